# A project is configured without the CUDA backend where nvcc is there but does not work.
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/nvcc "#!/bin/sh\necho 'nvcc fatal: unsupported version of the host compiler' >&2\nexit 1\n")
file(CHMOD ${FOLDER}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE ${FOLDER}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(broken_compiler LANGUAGES C CXX)
set(CURLEW_CUDA ON)
include(${SOURCE}/cmake/CurlewCompile.cmake)
")
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -D CURLEW_NVCC=${FOLDER}/nvcc -S ${FOLDER} -B ${FOLDER}/build
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0 OR NOT output MATCHES "CUDA backend: no, nvcc was not found or does not work")
  message(FATAL_ERROR "configuring ended with ${status}: ${output}")
endif()
