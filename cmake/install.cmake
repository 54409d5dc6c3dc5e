if(NOT CAUSEWAY_INSTALL)
  return()
endif()
