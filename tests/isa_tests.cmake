# The programs that run kernels, once more with each weaker instruction set forced, and on emulated older CPUs.
set(without_kernels base config data graph io tensor)

add_executable(run_with_isa support/run_with_isa.cpp)
target_include_directories(run_with_isa PRIVATE ${PROJECT_SOURCE_DIR}/lib)
target_link_libraries(run_with_isa PRIVATE causeway::causeway causeway_flags)

get_property(folders GLOBAL PROPERTY CAUSEWAY_TEST_FOLDERS)
list(REMOVE_ITEM folders ${without_kernels})
list(TRANSFORM folders PREPEND test_ OUTPUT_VARIABLE programs)

# Exit code 77 means: this CPU lacks it. ctest then lists the test as skipped.
foreach(isa IN ITEMS sse2 avx2)
  if(NOT isa IN_LIST CAUSEWAY_ISAS)
    continue()
  endif()
  foreach(program IN LISTS programs)
    set(name "isa-${isa}/${program}")
    add_test(NAME ${name} COMMAND run_with_isa ${isa} $<TARGET_FILE:${program}> ${CAUSEWAY_CATCH_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CAUSEWAY_TEST_TIMEOUT})
  endforeach()
endforeach()

# qemu-user imitates CPUs without AVX-512 (Haswell) and without AVX (Nehalem): what is chosen must run there. It takes
# about 50 times as long, so only what computes goes through it: each kernel, each op, the executor, and whole models
# against PyTorch's numbers.
set(emulated test_base test_kernels test_ops test_exec test_golden)
find_program(CAUSEWAY_QEMU qemu-x86_64)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  message(STATUS "Sanitizers do not run on emulated CPUs: no such tests")
elseif(CAUSEWAY_QEMU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  foreach(cpu IN ITEMS Haswell Nehalem)
    set(emulator ${CAUSEWAY_QEMU} -cpu ${cpu})
    set(names "")
    foreach(program IN LISTS emulated)
      set(name "emulated-${cpu}/${program}")
      add_test(NAME ${name} COMMAND ${emulator} $<TARGET_FILE:${program}> ${CAUSEWAY_CATCH_ARGUMENTS})
      list(APPEND names ${name})
    endforeach()
    if(CAUSEWAY_BUILD_TOOLS AND TARGET causeway_cli)
      set(name "emulated-${cpu}/causeway info")
      add_test(NAME ${name} COMMAND ${emulator} $<TARGET_FILE:causeway_cli> info)
      list(APPEND names ${name})
      set(name "emulated-${cpu}/causeway train")
      add_test(NAME ${name} COMMAND ${emulator} $<TARGET_FILE:causeway_cli> train
                       ${PROJECT_SOURCE_DIR}/configs/repeat_h4.json --set train.max_steps=20
                       --out ${CMAKE_CURRENT_BINARY_DIR}/emulated-${cpu} --overwrite)
      list(APPEND names ${name})
    endif()
    set_tests_properties(${names} PROPERTIES LABELS long TIMEOUT ${CAUSEWAY_LONG_TEST_TIMEOUT})
  endforeach()
else()
  message(STATUS "qemu-x86_64 not found: no tests on emulated CPUs (tools/setup.sh --all installs it)")
endif()
