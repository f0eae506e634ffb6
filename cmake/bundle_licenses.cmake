# At install time: writes the licences of the libraries in lib/ to licenses/. A library whose licence nobody has read is an error.
file(GLOB libraries ${CMAKE_INSTALL_PREFIX}/lib/*.so*)
find_program(python3 NAMES python3 REQUIRED)
execute_process(COMMAND ${python3} ${SEPCONV_THIRD_PARTY} notices ${CMAKE_INSTALL_PREFIX}/licenses ${libraries} RESULT_VARIABLE failed ERROR_VARIABLE error)
if(failed)
  message(FATAL_ERROR "The bundle would lack a licence: ${error}")
endif()
