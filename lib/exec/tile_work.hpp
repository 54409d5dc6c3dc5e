#pragma once

#include <cstdint>

namespace causeway {

/// Work cut into tiles: run(begin, end) does tiles [begin, end). A view, so that handing it over allocates nothing. It
/// must not throw: other threads may be at it, and a throw ends the program.
class TileWork {
  public:
    TileWork() = default;
    template <class F>
    explicit TileWork(F& f)
        : object_(&f), call_([](void* object, std::int64_t begin, std::int64_t end) noexcept {
              (*static_cast<F*>(object))(begin, end);
          }) {}
    void operator()(std::int64_t begin, std::int64_t end) const { call_(object_, begin, end); }

  private:
    void* object_ = nullptr;
    void (*call_)(void*, std::int64_t, std::int64_t) noexcept = nullptr;
};

}  // namespace causeway
