// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// A file that launches kernels and is not named in curlew_launches(): in a build with CUDA it must not
// compile, or the same function would have two meanings.
#include "kernels/executor.hpp"
#if CASE == 1
#include "kernels/for_each.hpp"
#endif
