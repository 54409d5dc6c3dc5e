#pragma once

#include "causeway/program.hpp"
#include "config/config.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

struct Program::Impl {
    Config config;
    ExecutionPlan plan;  ///< of mode train
};

}  // namespace causeway
