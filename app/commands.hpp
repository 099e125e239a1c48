// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/command_line.hpp"

namespace curlew {

// What the subcommands do. Each returns the exit status, and throws InputError, DivergedError or Error for
// what main turns into one.

/// Validates the case, then runs it.
int run_case(const RunOptions& options);

/// Reports everything wrong with case and mesh, runs nothing.
int check_case(const CheckOptions& options);

/// Prints counts, quality, memory, Betti numbers and operator identities of a mesh.
int mesh_info(const MeshInfoOptions& options);

/// Writes a mesh in another format.
int mesh_convert(const MeshConvertOptions& options);

/// Times every operator, reduction and solver kernel on a mesh, on each backend.
int bench_mesh(const BenchOptions& options);

/// Runs a case on every backend and prints how they compare.
int compare_case(const CompareOptions& options);

}  // namespace curlew
