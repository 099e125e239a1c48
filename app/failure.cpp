// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/diagnostics.hpp"
#include "app/files/atomic_file.hpp"
#include "kernels/error.hpp"
#include "kernels/memory_use.hpp"

namespace curlew {

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const CarriedFailure& carried) {
    return carried.failure();
  } catch (const InputErrors& errors) {
    Failure failure{exit_status::bad_input, {}};
    for (const Diagnostic& diagnostic : errors.diagnostics()) failure.messages.push_back(diagnostic.text());
    return failure;
  } catch (const InputError& error) {
    return {exit_status::bad_input, {error.what()}};
  } catch (const FileError& error) {
    return {exit_status::bad_input, {error.what()}};  // asked for files where none can be written
  } catch (const DivergedError& error) {
    return {exit_status::diverged, {error.what()}};
  } catch (const OutOfMemoryError& error) {
    return {exit_status::internal_error, {error.what()}};
  } catch (const std::bad_alloc&) {
    return {exit_status::internal_error, {"out of memory"}};
  } catch (const std::exception& error) {
    return {exit_status::internal_error,
            {fmt::format("internal error: {}; this is a bug, please report it", error.what())}};
  }
}

void together(const Communicator& ranks, const std::function<void()>& action) {
  if (ranks.ranks() == 1) return action();
  std::optional<Failure> failure;
  try {
    action();
  } catch (...) {
    failure = failure_of(std::current_exception());
  }
  const int lowest =
      ranks.ranks() - static_cast<int>(ranks.maximum(failure ? ranks.ranks() - ranks.rank() : 0));
  if (lowest == ranks.ranks()) return;
  std::vector<std::byte> bytes;
  if (ranks.rank() == lowest) {
    if (lowest > 0) {
      for (std::string& message : failure->messages) message = fmt::format("rank {}: {}", lowest, message);
    }
    const std::string text =
        nlohmann::json{{"status", failure->status}, {"messages", failure->messages}}.dump(
            -1, ' ', false, nlohmann::json::error_handler_t::replace);
    const auto letters = std::as_bytes(std::span(text));
    bytes.assign(letters.begin(), letters.end());
  }
  ranks.broadcast(lowest, bytes);
  const auto shared = nlohmann::json::parse(reinterpret_cast<const char*>(bytes.data()),
                                            reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  throw SharedFailure({shared.at("status"), shared.at("messages")});
}

void require_same(const Communicator& ranks, std::string_view mine, const std::string& complaint) {
  if (ranks.ranks() == 1) return;
  const auto letters = std::as_bytes(std::span(mine));
  std::vector<std::byte> first(letters.begin(), letters.end());
  ranks.broadcast(0, first);
  together(ranks, [&] {
    if (!std::ranges::equal(first, letters)) throw InputError(complaint);
  });
}

}  // namespace curlew
