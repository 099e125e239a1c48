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

if(CURLEW_CUDA)
  find_program(CURLEW_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(CURLEW_NVCC)
    set(ENV{CUDACXX} ${CURLEW_NVCC})
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)  # it may have been repaired since
    endif()
    include(CheckLanguage)
    check_language(CUDA)  # in a project of its own, which may fail
  endif()
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES OFF)  # named in the options below
    enable_language(CUDA)
    set(compiler "${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      message(STATUS "CUDA backend: yes, by ${compiler}")
    else()
      message(STATUS "CUDA backend: no, ${compiler} is older than CUDA 12")
      set(CURLEW_CUDA OFF)
    endif()
  else()
    message(STATUS "CUDA backend: no, nvcc was not found or does not work")
    set(CURLEW_CUDA OFF)
  endif()
else()
  message(STATUS "CUDA backend: no, CURLEW_CUDA is OFF")
endif()
if(CURLEW_CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
  if(CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  endif()
endif()

# curlew_launches(SOURCES...): these sources of the current folder launch kernels; where there is a CUDA backend
# nvcc compiles them.
function(curlew_launches)
  if(CURLEW_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

add_library(curlew_compile INTERFACE)
# nvcc hands the options that it does not know to the C++ compiler.
target_compile_options(curlew_compile INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic>  # nvcc's own output is not
  $<$<COMPILE_LANGUAGE:CXX>:-Werror>
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings -Xcompiler=-Werror>"
  # What GCC takes for uninitialised depends on the processor that it optimises for, and is wrong now and then: a
  # warning, lest a program that compiles on one machine not do so on another.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-error=maybe-uninitialized>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=-Wno-error=maybe-uninitialized>
  # Vectors are passed by value inside one program alone, which one compiler makes: no ABI of others is concerned.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>
  # Of sources that are compiled together GCC takes all but the first for headers, which may not have anything local.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>
  # The same bits on every backend: no contraction of a*b+c into one rounding behind the code's back.
  -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>
  # Code for Hopper and portable PTX for others, from one compilation.
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-gencode arch=compute_75,code=[sm_90,compute_75]>"
  $<$<COMPILE_LANGUAGE:CUDA>:-fopenmp>
  # A kernel that does not fit into registers is an error (assertions do not); PTX that can be read is what tests/gpu
  # looks through.
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Release>>:SHELL:-Xptxas=-warn-spills,-warn-lmem-usage,-Werror -no-compress>"
  # What these libraries offer to the compiler of C++20 and CUDA's front end does not take.
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-DFMT_USE_CONSTEXPR=1 -DEIGEN_NO_CUDA>")
if(CURLEW_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Hardware gathers are microcoded on many x86 processors and slower there than scalar loads
  # (docs/kernels.md); -march=native alone makes GCC emit them.
  target_compile_options(curlew_compile INTERFACE
    -march=native -mtune-ctrl=^use_gather_2parts,^use_gather_4parts,^use_gather)
endif()
if(CURLEW_SANITIZE)
  target_compile_options(curlew_compile INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    # Checks of every access whose faults the address sanitizer sees as well, or that these processors do not mind but
    # where they stop by themselves (alignment): a third of the time to compile.
    -fno-sanitize=null,object-size,pointer-overflow,alignment
    # Under the sanitizers GCC 12 warns about its own std::regex (GCC bug 105562).
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  # Without --as-needed, which the sanitizers turn off, every test would load Gmsh and a hundred other libraries at
  # its start.
  target_link_options(curlew_compile INTERFACE -fsanitize=address,undefined -Wl,--as-needed)
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
