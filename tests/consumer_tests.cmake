# An outside project finds, builds against and runs the installed package: tests/consumer, once a kind of library and
# build type. The installation goes to a prefix of its own in the build tree.
set(prefix ${CMAKE_CURRENT_BINARY_DIR}/consumer/prefix)

add_test(NAME "consumer/install"
         COMMAND ${CMAKE_COMMAND} -DBUILD_DIR=${PROJECT_BINARY_DIR} -DPREFIX=${prefix} -DCONFIG=$<CONFIG>
                 -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/install.cmake)
set_tests_properties("consumer/install" PROPERTIES FIXTURES_SETUP consumer_prefix TIMEOUT ${CAUSEWAY_TEST_TIMEOUT})

# consumer_test(name definition...): configures, builds and runs tests/consumer in a build directory of that name.
function(consumer_test name)
  list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE definitions)
  add_test(NAME "consumer/${name}"
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer
                   ${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}
                   --build-generator ${CMAKE_GENERATOR} --build-makeprogram ${CMAKE_MAKE_PROGRAM}
                   --build-options ${definitions} -DCMAKE_PREFIX_PATH=${prefix}
                   -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
                   --test-command consumer ${PROJECT_SOURCE_DIR}/configs/repeat_h4.json)
  set_tests_properties("consumer/${name}" PROPERTIES FIXTURES_REQUIRED consumer_prefix
                       TIMEOUT ${CAUSEWAY_TEST_TIMEOUT})
endfunction()

foreach(build_type IN ITEMS Release Debug)
  string(TOLOWER ${build_type} suffix)
  consumer_test(static-${suffix} CMAKE_BUILD_TYPE=${build_type} CONSUMER_LINK=static)
  if(CAUSEWAY_BUILD_SHARED)
    consumer_test(shared-${suffix} CMAKE_BUILD_TYPE=${build_type} CONSUMER_LINK=shared)
  endif()
endforeach()
find_program(CAUSEWAY_PKG_CONFIG pkg-config)
if(CAUSEWAY_PKG_CONFIG)
  consumer_test(pkg-config CMAKE_BUILD_TYPE=Release CONSUMER_LINK=pkg-config)
endif()
