#include "inspect/report/run_card.hpp"

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> state_names{"running", "done", "stopped", "failed"};

RunState state_of(const std::string& name) {
    for (std::size_t i = 0; i < state_names.size(); ++i) {
        if (name == state_names[i]) return static_cast<RunState>(i);
    }
    throw IoError(fmt::format("found state \"{}\", expected one of {}", name, fmt::join(state_names, ", ")));
}

Json json_of(const Session& session) {
    return {{"started", session.started},
            {"first_step", session.first_step},
            {"state", to_string(session.state)},
            {"ended_by", session.ended_by},
            {"pid", session.pid}};
}

/// Takes what is there; a member that is missing keeps its value, one of another type throws.
template <class T>
void take(const Json& object, const char* key, T& member) {
    if (const auto found = object.find(key); found != object.end()) member = found->get<T>();
}

Session session_of(const Json& object) {
    Session session;
    take(object, "started", session.started);
    take(object, "first_step", session.first_step);
    take(object, "ended_by", session.ended_by);
    take(object, "pid", session.pid);
    session.state = state_of(object.at("state").get<std::string>());
    return session;
}

RunCard card_of(const Json& object) {
    RunCard card;
    take(object, "causeway", card.version);
    take(object, "data", card.data);
    const Json machine = object.value("machine", Json::object());
    take(machine, "cpu", card.cpu);
    take(machine, "isa", card.isa);
    take(machine, "threads", card.threads);
    take(machine, "peak_flops_per_second", card.peak_flops_per_second);
    const Json plan = object.value("plan", Json::object());
    take(plan, "parameters", card.parameters);
    take(plan, "parameter_bytes", card.parameter_bytes);
    take(plan, "state_bytes", card.state_bytes);
    take(plan, "scratch_bytes", card.scratch_bytes);
    take(plan, "flops_per_step", card.flops_per_step);
    take(plan, "steps", card.plan_steps);
    take(plan, "groups", card.plan_groups);
    take(plan, "tokens_per_step", card.tokens_per_step);
    take(plan, "planned_steps", card.planned_steps);
    for (const Json& session : object.value("sessions", Json::array())) card.sessions.push_back(session_of(session));
    return card;
}

bool is_alive(std::int64_t pid) { return pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH); }

}  // namespace

std::string_view to_string(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

Session RunCard::last_session() const {
    if (sessions.empty()) return {"", 1, RunState::stopped, "", 0};
    Session last = sessions.back();
    if (last.state != RunState::running || is_alive(last.pid)) return last;
    last.state = RunState::stopped;
    last.ended_by = "its process ended without a word";
    return last;
}

std::string to_json(const RunCard& card) {
    Json sessions = Json::array();
    for (const Session& session : card.sessions) sessions.push_back(json_of(session));
    const Json object{{"causeway", card.version},
                      {"data", card.data},
                      {"machine",
                       {{"cpu", card.cpu},
                        {"isa", card.isa},
                        {"threads", card.threads},
                        {"peak_flops_per_second", card.peak_flops_per_second}}},
                      {"plan",
                       {{"parameters", card.parameters},
                        {"parameter_bytes", card.parameter_bytes},
                        {"state_bytes", card.state_bytes},
                        {"scratch_bytes", card.scratch_bytes},
                        {"flops_per_step", card.flops_per_step},
                        {"steps", card.plan_steps},
                        {"groups", card.plan_groups},
                        {"tokens_per_step", card.tokens_per_step},
                        {"planned_steps", card.planned_steps}}},
                      {"sessions", sessions}};
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RunCard> read_card(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw IoError(path + ": cannot be read");
    try {
        return card_of(Json::parse(file));
    } catch (const Json::exception& error) {
        throw IoError(fmt::format("{}: is not what describes a run: {}", path, error.what()));
    } catch (const IoError& error) {
        throw IoError(fmt::format("{}: {}", path, error.what()));
    }
}

std::string utc_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

}  // namespace causeway::report
