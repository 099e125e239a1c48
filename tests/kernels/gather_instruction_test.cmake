# Fails if the objects of a library hold a hardware gather (cmake -D OBJDUMP=... -D LIBRARIES=a,b -P).
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
foreach(library IN LISTS LIBRARIES)
  execute_process(COMMAND ${OBJDUMP} --disassemble --no-show-raw-insn ${library}
    OUTPUT_VARIABLE code RESULT_VARIABLE status)
  string(LENGTH "${code}" length)
  if(NOT status EQUAL 0 OR length LESS 1000)
    message(FATAL_ERROR "cannot disassemble ${library}")
  endif()
  string(REGEX MATCHALL "\tvp?gather[a-z]+" found "${code}")
  list(LENGTH found count)
  if(count GREATER 0)
    message(SEND_ERROR "${library} holds ${count} hardware gathers, microcoded and slow on many processors; "
      "compile it through curlew_compile (cmake/CurlewCompile.cmake)")
  endif()
endforeach()
