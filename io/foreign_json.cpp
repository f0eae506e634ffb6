#include "io/foreign_json.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace sepconv {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Members = ordered_json::object_t;
/// Members as a plain list, which is not searched for equal names.
using MemberList = std::vector<Members::value_type>;

/// Removes members with equal names; the last value is kept, in the position of the first.
void merge_equal_names(MemberList& members) {
  if (members.size() < 2) return;
  std::unordered_map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [found, is_new] = positions.try_emplace(members[i].first, i);
    if (!is_new) members[found->second].second = std::move(members[i].second);
  }
  if (positions.size() == members.size()) return;
  MemberList unique;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (positions.at(members[i].first) == i)
      unique.emplace_back(members[i].first, std::move(members[i].second));
  members.swap(unique);
}

/// Builds the tree. `open_` contains the nested values under construction; their addresses stay valid
/// meanwhile.
class TreeBuilder final : public nlohmann::json_sax<ordered_json> {
 public:
  ordered_json take() { return std::move(root_); }

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return add(value) != nullptr; }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t& value) override { return add(std::move(value)) != nullptr; }
  bool start_object(std::size_t) override { return open(ordered_json::object()); }
  bool start_array(std::size_t) override { return open(ordered_json::array()); }
  bool key(string_t& name) override {
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    merge_equal_names(open_.back()->get_ref<Members&>());
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  /// Returns null if the bounds are exceeded.
  ordered_json* add(ordered_json value) {
    if (!bounds_.take(static_cast<int>(open_.size()), json::parse_event_t::value)) return nullptr;
    if (open_.empty()) return &(root_ = std::move(value));
    ordered_json& parent = *open_.back();
    if (parent.is_object()) {
      MemberList& members = parent.get_ref<Members&>();
      return &members.emplace_back(name_, std::move(value)).second;
    }
    auto& list = parent.get_ref<ordered_json::array_t&>();
    list.push_back(std::move(value));
    return &list.back();
  }
  bool open(ordered_json value) {
    open_.push_back(add(std::move(value)));
    return open_.back() != nullptr;
  }

  ordered_json root_;
  std::vector<ordered_json*> open_;
  std::string name_;
  JsonBounds bounds_;
};

}  // namespace

bool JsonBounds::take(int depth, json::parse_event_t event) noexcept {
  using Event = json::parse_event_t;
  is_too_deep_ = is_too_deep_ || depth > kMaxJsonDepth;
  if (event != Event::key && event != Event::object_end && event != Event::array_end) ++values_;
  return !is_too_deep_ && values_ <= kMaxJsonValues;
}

std::string JsonBounds::problem() const {
  if (is_too_deep_) return fmt::format("is nested deeper than the {} levels that are read", kMaxJsonDepth);
  if (values_ > kMaxJsonValues)
    return fmt::format("has more than the {} values that are read", kMaxJsonValues);
  return {};
}

json parse_foreign(std::string_view text, std::string& problem) {
  JsonBounds bounds;
  const auto check_bounds = [&](int depth, json::parse_event_t event, json&) {
    return bounds.take(depth, event);
  };
  json document = json::parse(text, check_bounds, false);
  problem = bounds.problem();
  if (problem.empty() && document.is_discarded()) problem = "is not JSON";
  return problem.empty() ? document : json(json::value_t::discarded);
}

ordered_json parse_ordered(std::string_view text) {
  TreeBuilder builder;
  return ordered_json::sax_parse(text, &builder) ? builder.take()
                                                 : ordered_json(ordered_json::value_t::discarded);
}

void update_ordered(ordered_json& to, const ordered_json& from) {
  MemberList& members = to.get_ref<Members&>();
  for (const auto& [name, value] : from.get_ref<const Members&>()) members.emplace_back(name, value);
  merge_equal_names(members);
}

}  // namespace sepconv
