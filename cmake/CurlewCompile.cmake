# Compiler settings shared by every target.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(curlew_compile INTERFACE)
target_compile_options(curlew_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror
  # The same bits on every backend: no contraction of a*b+c into one rounding behind the code's back.
  -ffp-contract=off)
if(CURLEW_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Hardware gathers are microcoded on many x86 processors and slower there than scalar loads
  # (docs/performance.md); -march=native alone makes GCC emit them.
  target_compile_options(curlew_compile INTERFACE
    -march=native -mtune-ctrl=^use_gather_2parts,^use_gather_4parts,^use_gather)
endif()
if(CURLEW_SANITIZE)
  target_compile_options(curlew_compile INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    # Under the sanitizers GCC 12 warns about its own std::regex (GCC bug 105562).
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  target_link_options(curlew_compile INTERFACE -fsanitize=address,undefined)
endif()

# curlew_library(NAME SOURCES...): one library a folder; its headers are included as "folder/name.hpp". Its include
# path holds that folder alone, so a header of a library that it does not link cannot be included.
function(curlew_library name)
  add_library(curlew_${name} STATIC ${ARGN})
  set(include_root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${include_root}/${name} SYMBOLIC)
  target_include_directories(curlew_${name} PUBLIC ${include_root})
  target_link_libraries(curlew_${name} PRIVATE curlew_compile)
endfunction()
