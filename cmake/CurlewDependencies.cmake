# Libraries from outside; ./curlew installs their Debian packages.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Eigen3 REQUIRED NO_MODULE)
# Eigen does small dense work only. Its AVX-512 code makes GCC 12 warn about its own intrinsics (GCC bug 105593).
target_compile_definitions(Eigen3::Eigen INTERFACE EIGEN_DONT_VECTORIZE)
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

find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
add_library(metis INTERFACE)
target_include_directories(metis SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
target_link_libraries(metis INTERFACE ${METIS_LIBRARY})

# Without MPI everything works, on one rank.
option(CURLEW_MPI "Runs on several ranks, where MPI is found" ON)
if(CURLEW_MPI)
  find_package(MPI COMPONENTS C)
endif()
