# Libraries from outside; ./curlew installs their Debian packages.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Eigen3 REQUIRED NO_MODULE)
# GCC 12 warns about its own AVX-512 intrinsics where Eigen uses them (GCC bug 105593 and its like).
target_compile_options(Eigen3::Eigen INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(muparser REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)

find_path(GMSH_INCLUDE_DIR gmsh.h REQUIRED)
find_library(GMSH_LIBRARY gmsh REQUIRED)
add_library(gmsh_sdk INTERFACE)
target_include_directories(gmsh_sdk SYSTEM INTERFACE ${GMSH_INCLUDE_DIR})
target_link_libraries(gmsh_sdk INTERFACE ${GMSH_LIBRARY})
