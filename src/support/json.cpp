// SPDX-License-Identifier: MIT
// JSON as values, and the JSON library behind them: the only file that compiles it, since that takes seconds
// each time.
#include "support/json.hpp"

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

namespace kiln::detail {

/// Between our values and those of the library.
struct JsonLibrary {
  using Text = nlohmann::ordered_json;
  using Reader = nlohmann::json_sax<Text>;

  /// A value of the library, which is taken apart from its leaves: as a whole its destructor takes memory,
  /// and ends the process where there is none.
  struct Made {
    Made() = default;
    explicit Made(const Json& json) : Made() {
      fill(json, text);
    }  // so that what is half made is cleared too
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    ~Made() { clear(text); }
    Text text;
  };

  static void fill(const Json& json, Text& text) {
    if (const auto* elements = std::get_if<Json::Elements>(&json.value_)) {
      text = Text::array();
      auto& array = text.get_ref<Text::array_t&>();
      array.reserve(elements->size());
      for (const Json& each : *elements) fill(each, array.emplace_back());
    } else if (const auto* members = std::get_if<Json::Members>(&json.value_)) {
      text = Text::object();
      auto& object = text.get_ref<Text::object_t&>();
      object.Container::reserve(members->size());  // growing copies all members
      for (const Json::Member& each : *members)
        fill(each.value, object.Container::emplace_back(each.name, nullptr).second);  // the names differ
    } else if (const auto* string = std::get_if<std::string>(&json.value_)) {
      text = *string;
    } else if (const auto* truth = std::get_if<bool>(&json.value_)) {
      text = *truth;
    } else if (const auto* natural = std::get_if<std::uint64_t>(&json.value_)) {
      text = *natural;
    } else if (const auto* integer = std::get_if<std::int64_t>(&json.value_)) {
      text = *integer;
    } else if (const auto* real = std::get_if<double>(&json.value_)) {
      text = *real;
    }
  }

  static void clear(Text& text) {
    if (text.is_array()) {
      for (Text& each : text) clear(each);
      text.get_ref<Text::array_t&>().clear();
    } else if (text.is_object()) {
      auto& object = text.get_ref<Text::object_t&>();
      for (auto& each : object) clear(each.second);
      object.Container::clear();
    }
  }

  /// What the library reads, as values.
  struct Values final : Reader {
    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(std::int64_t value) override { return put(value); }
    bool number_unsigned(std::uint64_t value) override { return put(value); }
    bool number_float(double value, const std::string&) override { return put(value); }
    bool string(std::string& value) override { return put(std::move(value)); }
    bool binary(Text::binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool key(std::string& value) override {
      // Members are searched one after another, which takes for ever where there are very many.
      auto& members = std::get<Json::Members>(open_.back()->value_);
      auto& places = names_[open_.size() - 1];
      if (members.size() < kFew) {
        place_ = &(*open_.back())[value];
        return true;
      }
      if (places.empty())
        for (Json::Member& each : members) places.emplace(each.name, &each.value);
      if (const auto known = places.find(value); known != places.end()) {
        place_ = known->second;
        return true;
      }
      Json::Member& made = members.emplace_back(Json::Member{std::move(value), {}});
      places.emplace(made.name, place_ = &made.value);
      return true;
    }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
      return false;
    }

    Json read;

   private:
    Json* put(Json value) {
      if (open_.empty()) return &(read = std::move(value));
      if (auto* elements = std::get_if<Json::Elements>(&open_.back()->value_))
        return &elements->emplace_back(std::move(value));
      return &(*place_ = std::move(value));
    }
    bool open(Json value) {
      if (open_.size() == kDeepest) return false;
      open_.push_back(put(std::move(value)));
      names_.emplace_back();
      return true;
    }
    bool close() {
      open_.pop_back();
      names_.pop_back();
      return true;
    }

    static constexpr std::size_t kDeepest = 100;
    static constexpr std::size_t kFew = 32;
    std::vector<Json*> open_;  // lists that are being read, the innermost last
    std::vector<std::unordered_map<std::string_view, Json*>> names_;  // of each, where members are many
    Json* place_ = nullptr;                                           // of the member whose name was read
  };
};

Json::Json() : value_(nullptr) {}
Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> list) {
  bool members = true;
  for (const Json& each : list) {
    const auto* pair = std::get_if<Elements>(&each.value_);
    members = members && pair && pair->size() == 2 && pair->front().is_string();
  }
  if (!members) {
    value_ = Elements(list);
    return;
  }
  value_ = Members();
  for (const Json& each : list) (*this)[each[0].text()] = each[1];
}

Json Json::array() {
  Json json;
  json.value_ = Elements();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Members();
  return json;
}

std::optional<Json> Json::parse(std::string_view text) {
  JsonLibrary::Values values;
  if (!JsonLibrary::Text::sax_parse(text, &values)) return std::nullopt;
  return std::move(values.read);
}

std::string Json::dump() const {
  using Text = JsonLibrary::Text;
  return JsonLibrary::Made(*this).text.dump(-1, ' ', false, Text::error_handler_t::replace);
}

std::string Json::dump_lines() const {
  using Text = JsonLibrary::Text;
  return JsonLibrary::Made(*this).text.dump(2, ' ', true, Text::error_handler_t::replace);
}

void Json::set(bool value) { value_ = value; }
void Json::set(std::int64_t value) { value_ = value; }
void Json::set(std::uint64_t value) { value_ = value; }

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_object() const { return std::holds_alternative<Members>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_number() const {
  return is_number_unsigned() || std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<double>(value_);
}
bool Json::is_number_unsigned() const {
  const auto* integer = std::get_if<std::int64_t>(&value_);
  return std::holds_alternative<std::uint64_t>(value_) || (integer && *integer >= 0);
}

std::size_t Json::size() const {
  if (const auto* elements = std::get_if<Elements>(&value_)) return elements->size();
  if (const auto* members = std::get_if<Members>(&value_)) return members->size();
  return is_null() ? 0 : 1;
}

bool Json::truth() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  throw WrongType("JSON: true or false was expected");
}

const std::string& Json::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  throw WrongType("JSON: a string was expected");
}

double Json::real() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  throw WrongType("JSON: a number was expected");
}

std::uint64_t Json::natural(std::uint64_t most) const {
  const auto* natural = std::get_if<std::uint64_t>(&value_);
  const auto* integer = std::get_if<std::int64_t>(&value_);
  if (natural && *natural <= most) return *natural;
  if (integer && std::in_range<std::uint64_t>(*integer) && static_cast<std::uint64_t>(*integer) <= most)
    return static_cast<std::uint64_t>(*integer);
  throw WrongType("JSON: a number of 0 to " + std::to_string(most) + " was expected");
}

std::int64_t Json::integer(std::int64_t least, std::int64_t most) const {
  const auto* natural = std::get_if<std::uint64_t>(&value_);
  const auto* integer = std::get_if<std::int64_t>(&value_);
  if (integer && *integer >= least && *integer <= most) return *integer;
  if (natural && std::cmp_less_equal(*natural, most)) return static_cast<std::int64_t>(*natural);
  throw WrongType("JSON: a number of " + std::to_string(least) + " to " + std::to_string(most) +
                  " was expected");
}

const Json* Json::begin() const {
  const auto* elements = std::get_if<Elements>(&value_);
  return elements ? elements->data() : nullptr;
}

const Json* Json::end() const {
  const auto* elements = std::get_if<Elements>(&value_);
  return elements ? elements->data() + elements->size() : nullptr;
}

const std::list<Json::Member>& Json::items() const {
  static const Members none;
  const auto* members = std::get_if<Members>(&value_);
  return members ? *members : none;
}

const Json& Json::back() const { return at(size() - 1); }

const Json* Json::find(std::string_view name) const {
  if (const auto* members = std::get_if<Members>(&value_))
    for (const Member& each : *members)
      if (each.name == name) return &each.value;
  return nullptr;
}

const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) return *found;
  throw WrongType("JSON: there is no `" + std::string(name) + "`");
}

const Json& Json::at(std::size_t index) const {
  const auto* elements = std::get_if<Elements>(&value_);
  if (elements && index < elements->size()) return (*elements)[index];
  throw WrongType("JSON: there is no element " + std::to_string(index));
}

const Json& Json::operator[](std::string_view name) const {
  static const Json none;
  const Json* found = find(name);
  return found ? *found : none;
}

const Json& Json::element(std::size_t index) const {
  static const Json none;
  const auto* elements = std::get_if<Elements>(&value_);
  return elements && index < elements->size() ? (*elements)[index] : none;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Members();
  auto* members = std::get_if<Members>(&value_);
  if (!members) throw WrongType("JSON: an object was expected");
  for (Member& each : *members)
    if (each.name == name) return each.value;
  return members->emplace_back(Member{std::string(name), {}}).value;
}

void Json::erase(std::string_view name) {
  if (auto* members = std::get_if<Members>(&value_))
    std::erase_if(*members, [&](const Member& each) { return each.name == name; });
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Elements();
  auto* elements = std::get_if<Elements>(&value_);
  if (!elements) throw WrongType("JSON: an array was expected");
  elements->push_back(std::move(element));
}

bool Json::equals(const Json& other) const {
  if (!is_number() || !other.is_number()) return value_ == other.value_;
  if (std::holds_alternative<double>(value_) || std::holds_alternative<double>(other.value_))
    return real() == other.real();
  if (!is_number_unsigned() || !other.is_number_unsigned()) return value_ == other.value_;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return natural(kMost) == other.natural(kMost);
}

}  // namespace kiln::detail
