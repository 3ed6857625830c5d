// SPDX-License-Identifier: MIT
// Matches specifications with arguments, and turns each into bytes.
#include "tool/kernel/match.hpp"

#include <algorithm>

#include "support/digits.hpp"
#include "support/nearest.hpp"
#include "tool/kernel/npy.hpp"

namespace kiln::tool {
namespace {

using Form = Specification::Form;

/// What else is known while one argument is bound.
struct Binding {
  const Signature& signature;
  std::size_t index;
  const Specification& given;
  std::uint64_t seed;
  const ReadFile& read;

  [[nodiscard]] const KernelParameter& parameter() const { return signature.parameters[index]; }
  [[nodiscard]] Error refuse(std::string message, std::vector<std::string> help) const {
    return wrong_arguments("argument `" + label_of(signature, index) + "`: " + std::move(message),
                           std::move(help), signature);
  }
};

const char* form_text(Form form) {
  switch (form) {
    case Form::scalar:
      return "a value";
    case Form::local:
      return "`__local` memory";
    case Form::null:
      return "a null pointer";
    default:
      return "a buffer";
  }
}

/// What an argument of this kind can be, as help.
std::string kind_help(const KernelParameter& parameter, const std::string& label) {
  switch (parameter.facts.kind) {
    case ArgumentKind::value:
      return (parameter.element ? "give a value: "
                                : "give its " + std::to_string(parameter.facts.size) + " bytes: ") +
             label + "=" + example_value(parameter);
    case ArgumentKind::local_pointer:
      return "give its bytes a work-group: --local " + label + "=BYTES";
    default:
      return "give a buffer: " + label +
             "=random:" + (parameter.element ? type_name(*parameter.element) : "uchar") +
             ":1000, zeros:, iota:, out:, file:DATA.bin or DATA.npy; or null";
  }
}

/// The type that data are made in: what is said, else the kernel's.
Result<ElementType> type_for(const Binding& binding) {
  const auto& wanted = binding.parameter().element;
  const auto& given = binding.given.type;
  if (!given && !wanted)
    return tl::unexpected(binding.refuse(
        "its type is not known from the file",
        {"say it: " + label_of(binding.signature, binding.index) +
         (binding.given.form == Form::scalar ? "=float:" + binding.given.text : "=random:float:1000")}));
  if (!given) return *wanted;
  // Bytes may stand for anything.
  const bool bytes = size_of(given->scalar) == 1 && given->lanes == 1 && binding.given.form != Form::scalar;
  if (wanted && !same_scalar(*given, *wanted) && !bytes)
    return tl::unexpected(
        binding.refuse("`" + binding.given.written + "` is of " + type_name(*given) + ", the kernel takes " +
                           shown_type(binding.parameter()),
                       {"give " + type_name(*wanted) + ", or no type: then it is the kernel's"}));
  return *given;
}

/// Whole elements of the kernel's?
Result<void> check_whole(const Binding& binding, std::uint64_t bytes) {
  const auto& wanted = binding.parameter().element;
  if (!wanted || bytes % wanted->size() == 0) return {};
  return tl::unexpected(binding.refuse("`" + binding.given.written + "` has " + std::to_string(bytes) +
                                           " bytes, which are no whole number of " + type_name(*wanted) +
                                           " of " + std::to_string(wanted->size()),
                                       {"give a multiple of " + std::to_string(wanted->size()) + " bytes"}));
}

Error no_number(const Binding& binding, std::string_view text, const ElementType& type) {
  return binding.refuse("`" + std::string(text) + "` is no " + type_name({type.scalar}),
                        {is_floating(type.scalar) ? "give a number such as 2.5, 1e-3, inf or nan"
                                                  : "give a whole number that fits it, decimal or 0x…"});
}

/// A buffer that is written out: "1,2,3".
Result<Array> listed_array(const Binding& binding) {
  KILN_TRY(const auto type, type_for(binding));
  const auto numbers = split_at_commas(binding.given.text);
  if (numbers.size() % type.slots() != 0)
    return tl::unexpected(
        binding.refuse("`" + binding.given.written + "` has " + std::to_string(numbers.size()) +
                           (numbers.size() == 1 ? " number" : " numbers") + ", which are no whole " +
                           type_name(type) + " of " + std::to_string(type.slots()),
                       {"give a multiple of " + std::to_string(type.slots()) + " numbers" +
                        (type.lanes == 3 ? "; the fourth of each fills it up" : "")}));
  Array array{
      type, {numbers.size() / type.slots()}, std::vector<std::byte>(numbers.size() * size_of(type.scalar))};
  for (std::uint64_t i = 0; i < numbers.size(); ++i)
    if (!put_text(array, i, numbers[i])) return tl::unexpected(no_number(binding, numbers[i], type));
  return array;
}

Result<Array> array_for(const Binding& binding) {
  const Specification& given = binding.given;
  const auto& wanted = binding.parameter().element;
  if (given.form == Form::scalar) return listed_array(binding);
  if (given.form == Form::file) {
    KILN_TRY(const auto file, binding.read(given.path));
    if (file.bytes.empty())
      return tl::unexpected(
          bad_data(given.path, "it is empty", "give at least one element: no buffer can be of none"));
    return raw_array(file.bytes, wanted.value_or(ElementType{Scalar::u8}));
  }
  if (given.form == Form::npy) {
    KILN_TRY(const auto file, binding.read(given.path));
    KILN_TRY(auto array, read_npy(file.bytes, given.path));
    const bool bytes = size_of(array.type.scalar) == 1;
    if (wanted && !same_scalar(array.type, *wanted) && !bytes)
      return tl::unexpected(binding.refuse("`" + given.path + "` holds " + type_name(array.type) +
                                               ", the kernel takes " + shown_type(binding.parameter()),
                                           {"convert it with NumPy: ARRAY.astype(…)"}));
    return array;
  }
  KILN_TRY(const auto type, type_for(binding));
  if (given.count() > (std::uint64_t{1} << 40) / type.size())
    return tl::unexpected(
        binding.refuse("`" + given.written + "` is more than 1 TiB", {"give fewer elements"}));
  return make_array(given, type, binding.seed);
}

/// Bytes that stand for elements of the kernel's become these: their rows as far as they hold whole ones.
void take_as(const ElementType& wanted, Array& array) {
  if (same_scalar(array.type, wanted)) {
    // Rows of four numbers are vectors of four; those of three are told from what fills them up.
    if (array.type.lanes != 1 || wanted.lanes == 1 || array.shape.empty()) return;
    std::uint64_t& last = array.shape.back();
    if (last == wanted.slots())
      array.shape.pop_back();
    else if (wanted.lanes == 3 && last % wanted.slots() == 0)
      last /= wanted.slots();
    else
      return;
    array.type.lanes = wanted.lanes;
    return;
  }
  const std::uint64_t row = array.shape.empty() ? 0 : array.shape.back() * array.type.size();
  if (row != 0 && row % wanted.size() == 0)
    array.shape.back() = row / wanted.size();
  else
    array.shape = {array.bytes.size() / wanted.size()};
  array.type = wanted;
}

/// How many elements of the kernel's there are. Bytes, and what is given for a struct, do not say it.
std::uint64_t items_of(const KernelParameter& parameter, const Array& array) {
  if (parameter.element) return array.bytes.size() / parameter.element->size();
  const bool bytes = size_of(array.type.scalar) == 1 && array.type.lanes == 1;
  return bytes || !parameter.type.empty() ? 0 : array.bytes.size() / array.type.size();
}

/// "3", or "1,2,3,4" for a vector; one number is for all of its lanes, as in OpenCL C.
Result<Array> value_for(const Binding& binding) {
  const std::uint32_t size = binding.parameter().facts.size;
  KILN_TRY(const auto type, type_for(binding));
  Array value{type, {}, std::vector<std::byte>(type.size())};
  if (size != 0 && type.size() != size)
    return tl::unexpected(binding.refuse("`" + binding.given.written + "` has " +
                                             std::to_string(type.size()) + " bytes, the kernel takes " +
                                             std::to_string(size),
                                         {"give a type of " + std::to_string(size) + " bytes"}));
  const auto numbers = split_at_commas(binding.given.text);
  if (numbers.size() != 1 && numbers.size() != type.lanes)
    return tl::unexpected(binding.refuse(
        "`" + binding.given.written + "` has " + std::to_string(numbers.size()) +
            " numbers, the kernel takes " + std::to_string(type.lanes),
        {"give " + std::to_string(type.lanes) + " numbers with commas between, or one for all"}));
  for (std::uint64_t i = 0; i < type.lanes; ++i)
    if (const auto text = numbers[numbers.size() == 1 ? 0 : i]; !put_text(value, i, text))
      return tl::unexpected(no_number(binding, text, type));
  return value;
}

Result<Bound> bind(const Binding& binding) {
  const KernelParameter& parameter = binding.parameter();
  const Form form = binding.given.form;
  Bound bound{label_of(binding.signature, binding.index), parameter.facts.kind};
  bound.access = parameter.access;
  const auto mismatch = [&] {
    return tl::unexpected(
        binding.refuse(std::string(form_text(form)) + " is given, the kernel takes " + shown_type(parameter),
                       {kind_help(parameter, bound.label)}));
  };
  switch (parameter.facts.kind) {
    case ArgumentKind::value:
      if (form == Form::scalar) {
        KILN_TRY(bound.data, value_for(binding));
        return bound;
      }
      if (form != Form::file) return mismatch();
      {
        KILN_TRY(const auto file, binding.read(binding.given.path));
        if (file.bytes.size() != parameter.facts.size)
          return tl::unexpected(
              binding.refuse("`" + binding.given.path + "` has " + std::to_string(file.bytes.size()) +
                                 " bytes, the kernel takes " + std::to_string(parameter.facts.size),
                             {"give a file of that many bytes"}));
        bound.data = raw_array(file.bytes, ElementType{Scalar::u8});
      }
      return bound;
    case ArgumentKind::local_pointer:
      if (form != Form::local) return mismatch();
      bound.local_bytes = binding.given.shape.front();
      return bound;
    case ArgumentKind::global_pointer: {
      // One number alone is meant for another argument.
      if (form == Form::local || (form == Form::scalar && binding.given.text.find(',') == std::string::npos))
        return mismatch();
      bound.is_null = form == Form::null;
      if (bound.is_null) return bound;
      KILN_TRY(bound.data, array_for(binding));
      KILN_TRY(check_whole(binding, bound.data.bytes.size()));
      if (parameter.element) take_as(*parameter.element, bound.data);
      bound.items = items_of(parameter, bound.data);
      return bound;
    }
    default:
      return tl::unexpected(
          binding.refuse("the kernel takes " + shown_type(parameter) + ", which is not given here",
                         {"call the kernel from a program of your own"}));
  }
}

}  // namespace

Error wrong_arguments(std::string message, std::vector<std::string> help, const Signature& signature) {
  Diagnostic diagnostic{
      "K0431", "kernel `" + signature.kernel + "`: " + std::move(message), {}, std::move(help)};
  for (std::size_t i = 0; i < signature.parameters.size(); ++i)
    diagnostic.rows.push_back(
        {"argument " + std::to_string(i) +
             (signature.parameters[i].facts.name.empty() ? ""
                                                         : " `" + signature.parameters[i].facts.name + "`"),
         shown_type(signature.parameters[i])});
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run", std::move(diagnostic));
}

Error written_behind(const std::string& kernel, const std::string& buffer, std::uint64_t bytes,
                     std::uint64_t at) {
  return Error(ZE_RESULT_ERROR_UNKNOWN, "kiln run",
               {"K0434",
                "kernel `" + kernel + "` writes beyond the end of `" + buffer + "`",
                {{"buffer", "", bytes, "B"}, {"first byte that changed behind it, at", "", at, ""}},
                {"give `" + buffer + "` more elements, or the kernel fewer work-items",
                 "`--device cpu --check-memory` names the line of the kernel, and sees reads too"}});
}

Error faulted_kernel(const std::string& kernel, bool of_memory, const RunInstead& instead) {
  const std::string fault = of_memory ? "uses an address where there is no memory"
                                      : "divides an integer by zero, or the smallest one by -1";
  if (!instead.alternative.empty())
    return Error(
        ZE_RESULT_ERROR_UNKNOWN, "kiln run",
        {"K0438",
         "kernel `" + kernel + "` " + fault + ", with " + instead.alternative + ", which --advise tried",
         {},
         {"as it was given it ran to its end: run it without --advise",
          "--tries N ends the search earlier: what was tried until then is shown"}});
  Diagnostic diagnostic{
      "K0438",
      "kernel `" + kernel + "` " + fault,
      {},
      {of_memory ? "run it with --check-memory: it names the access and its line, and goes on"
                 : "look for a divisor that can be 0, or -1: on a GPU the result is any number"}};
  if (instead.swept != 0) {
    diagnostic.rows.push_back({"at", "group=" + std::to_string(instead.swept)});
    diagnostic.help.push_back("leave that size out of --sweep where the kernel is not written for it");
  }
  return Error(ZE_RESULT_ERROR_UNKNOWN, "kiln run", std::move(diagnostic));
}

Error failed_other_run(const std::string& other, std::string ended_by, std::string said) {
  Diagnostic diagnostic{"K0437",
                        "the run of `" + other + "` to compare with failed",
                        {{"ended by", std::move(ended_by)}},
                        {"run it alone to see more"}};
  if (!said.empty()) diagnostic.rows.push_back({"it said", std::move(said)});
  return Error(ZE_RESULT_ERROR_UNKNOWN, "kiln run", std::move(diagnostic));
}

Array raw_array(std::span<const std::byte> bytes, const ElementType& type) {
  return {type, {std::max<std::uint64_t>(bytes.size() / type.size(), 1)}, {bytes.begin(), bytes.end()}};
}

Result<std::size_t> place_of_argument(const std::string& name, const Signature& signature) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    names.push_back(label_of(signature, i));
    if (names.back() == name || std::to_string(i) == name) return i;
  }
  auto help = detail::did_you_mean(name, names);
  help.emplace_back("name an argument below, or give its place, from 0");
  return tl::unexpected(wrong_arguments("it has no argument `" + name + "`", std::move(help), signature));
}

Result<std::vector<Bound>> bind_arguments(const Signature& signature, const std::vector<Specification>& given,
                                          std::uint64_t seed, const ReadFile& read) {
  if (!signature.known)
    return tl::unexpected(wrong_arguments("its file does not say which arguments it takes",
                                          {"give its OpenCL C or SPIR-V instead"}, signature));
  std::vector<const Specification*> of(signature.parameters.size());
  for (const Specification& each : given) {
    KILN_TRY(const auto place, place_of_argument(each.argument, signature));
    if (of[place])
      return tl::unexpected(wrong_arguments("argument `" + label_of(signature, place) +
                                                "` is given twice: `" + of[place]->written + "` and `" +
                                                each.written + "`",
                                            {"leave one of them out"}, signature));
    of[place] = &each;
  }
  std::vector<Bound> all;
  std::vector<std::string> missing, help;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i]) continue;
    missing.push_back("`" + label_of(signature, i) + "`");
    help.push_back(kind_help(signature.parameters[i], label_of(signature, i)));
  }
  if (!missing.empty()) {
    std::string names;
    for (const std::string& each : missing) names += (names.empty() ? "" : ", ") + each;
    return tl::unexpected(wrong_arguments(std::string(missing.size() == 1 ? "argument " : "arguments ") +
                                              names + (missing.size() == 1 ? " is missing" : " are missing"),
                                          std::move(help), signature));
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    // Each has random numbers of its own, unless a seed is given.
    KILN_TRY(auto bound, bind({signature, i, *of[i], seed + i, read}));
    all.push_back(std::move(bound));
  }
  return all;
}

std::vector<std::uint64_t> made_bytes(const Signature& signature, const std::vector<Specification>& given) {
  std::vector<std::uint64_t> all(signature.parameters.size());
  for (const Specification& each : given) {
    const auto place = place_of_argument(each.argument, signature);
    if (!place || each.shape.empty() || each.form == Form::local) continue;
    const auto& type = each.type ? each.type : signature.parameters[*place].element;
    if (type) all[*place] = each.count() * type->size();
  }
  return all;
}

Result<Array> expected_array(const std::string& kernel, const Specification& expected, const Bound& output,
                             std::uint64_t seed, const ReadFile& read) {
  Signature signature{kernel, {}, true, false};
  KernelParameter parameter{
      {ArgumentKind::global_pointer, 8, 16, output.label}, "", output.data.type, output.access};
  signature.parameters.push_back(std::move(parameter));
  Specification made = expected;
  if (made.form == Form::null || made.form == Form::local || made.form == Form::out)
    return tl::unexpected(bad_specification(
        "`" + made.written + "` is nothing that can be expected of a buffer",
        {"give what is in it: " + output.label + "=0, 1,2,3, zeros:1000, ones:, iota: or DATA.npy"}));
  // One number stands for all elements.
  if (made.form == Form::scalar && made.text.find(',') == std::string::npos) {
    Signature one = signature;
    one.parameters[0].facts.kind = ArgumentKind::value;
    one.parameters[0].facts.size = 0;
    KILN_TRY(const auto value, value_for({one, 0, made, seed, read}));
    Array all{output.data.type, output.data.shape, {}};
    for (std::size_t at = 0; at < output.data.bytes.size(); at += value.bytes.size())
      all.bytes.insert(all.bytes.end(), value.bytes.begin(), value.bytes.end());
    all.bytes.resize(output.data.bytes.size());
    return all;
  }
  KILN_TRY(auto array, array_for({signature, 0, made, seed, read}));
  if (array.bytes.size() != output.data.bytes.size())
    return tl::unexpected(wrong_arguments("what is expected of `" + output.label + "` has " +
                                              std::to_string(array.bytes.size()) + " bytes, the buffer " +
                                              std::to_string(output.data.bytes.size()),
                                          {"give as many elements as the argument has"}, signature));
  array.type = output.data.type;  // bytes may stand for anything
  return array;
}

}  // namespace kiln::tool
