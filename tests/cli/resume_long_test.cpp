#include "cli/resume_support.hpp"
#include "support/catch.hpp"

TEST_CASE("B63: a run that is killed 200 times, in its steps and its saves, ends with the same bits") {
    CHECK(kill_and_resume(200) > 5);
}
