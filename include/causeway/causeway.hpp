#pragma once

// Everything: compile a config to a program, train it, call single kernels.
//
//     #include <causeway/causeway.hpp>
//
//     causeway::Trainer trainer(causeway::compile_file("configs/repeat_h4.json"));
//     while (trainer.steps_done() < 100) trainer.step();
//     trainer.save("run");

#include "causeway/error.hpp"
#include "causeway/generator.hpp"
#include "causeway/kernels.hpp"
#include "causeway/program.hpp"
#include "causeway/trainer.hpp"
#include "causeway/version.hpp"
