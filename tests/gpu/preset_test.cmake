# What tests/gpu/prepare builds is compiled for any processor, where GCC may warn of what it does not warn of here.
file(REMOVE_RECURSE ${FOLDER})
foreach(command
    "${CMAKE_COMMAND};--preset;gpu;-S;${SOURCE};-B;${FOLDER};-D;CURLEW_CUDA=OFF;-D;CMAKE_UNITY_BUILD=OFF"
    "${CMAKE_COMMAND};--build;${FOLDER};--target;tests/kernels/CMakeFiles/kernels_test.dir/vector4_test.cpp.o")
  execute_process(COMMAND ${command} WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${command} ended with ${status}: ${output}")
  endif()
endforeach()
