// Answers: which matrices are found under which names, what is a blank, what cannot be read, and how exactly numbers stand.
#include "io/problem/answer.hpp"

#include <cmath>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/roster.hpp"
#include "io/files/temporary_folder.hpp"

namespace mha::test {
namespace {

Answer read(const std::string& text) {
  return read_answer_line(text, "answers.jsonl", 7);
}

std::string fault_in_answer(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

struct Named {
  StepId step;
  std::optional<Index> head;
  bool operator==(const Named&) const = default;
};

std::vector<Named> names(const std::string& text) {
  std::vector<Named> result;
  for (const AnswerMatrix& matrix : read(text).matrices) result.push_back({matrix.step, matrix.head});
  return result;
}

}  // namespace

TEST_CASE("ids and symbols, flat with the head's number", "[answer]") {
  for (const StepName& name : step_names)
    for (const std::string_view called : {name.id, name.symbol}) {
      const std::optional<MatrixName> found = matrix_name(std::string(called) + (name.per_head ? "12" : ""));
      CAPTURE(called);
      REQUIRE(found.has_value());
      // "Q" alone is the symbol of both the packed product and the heads' Q.
      if (!(is_packed(name.step) && called == name.symbol)) CHECK(name_of(found->step).id == name.id);
      CHECK(found->head == (name.per_head ? std::optional<Index>(11) : std::nullopt));
    }
  for (const char* unknown : {"Q0", "Q01", "Y1", "heads1", "B1", "Q-1", "Q99999999999999999999", "q1", ""})
    CHECK_FALSE(matrix_name(unknown).has_value());
}

TEST_CASE("an answer as a trace has it", "[answer]") {
  CHECK(names(R"({"format": "mha-trace", "version": 1, "title": {"en": "a", "zh": "b"}, "device": "cpu", "dtype": "f64",
                  "rounding": null, "config": {"tokens": 1, "token_labels": ["-inf", "nan"], "mask": ["causal"]},
                  "X": [[1]], "packed": {"Q": [[1, 2]]},
                  "heads": [{"head": 2, "kv_head": 1, "weights": [[1]], "S": [[3]]}, {"head": 1, "weights": [[1]]}],
                  "concat": [[1]], "output": [[2]]})") == std::vector<Named>{{StepId::X, {}},
                                                                             {StepId::packed_Q, {}},
                                                                             {StepId::weights, 1},
                                                                             {StepId::scores, 1},
                                                                             {StepId::weights, 0},
                                                                             {StepId::concat, {}},
                                                                             {StepId::output, {}}});
  CHECK(names(R"({"heads": [{}, {"A": [[1]]}]})") == std::vector<Named>{{StepId::weights, 1}});
  CHECK(names(R"({"Y": [[1]], "A2": [[1]], "head1": [[1]], "Q": [[[1]]]})") ==
        std::vector<Named>{{StepId::output, {}}, {StepId::weights, 1}, {StepId::head_output, 0}, {StepId::Q, {}}});
}

TEST_CASE("axes are kept as they stand in the file", "[answer]") {
  const Answer answer = read(R"({"A": [[[1, 2, 3]], [[4, 5, 6]]]})");
  CHECK(answer.matrices.front().axes == std::vector<Index>{2, 1, 3});
  CHECK(answer.matrices.front().numbers[5] == 6);
}

TEST_CASE("-inf, inf and nan are numbers in an answer, as texts and as Python writes them", "[answer]") {
  const Answer answer = read(R"({"M1": [["-inf", "inf", "nan", NaN, Infinity, -Infinity]], "M2": [["nan", 1]]})");
  const Numbers& numbers = answer.matrices.front().numbers;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(numbers[0] == -infinity);
  CHECK(numbers[1] == infinity);
  CHECK(std::isnan(numbers[2]));
  CHECK(std::isnan(numbers[3]));
  CHECK(numbers[4] == infinity);
  CHECK(numbers[5] == -infinity);
  CHECK(std::isnan(answer.matrices[1].numbers[0]));
}

TEST_CASE("null is a blank, and a matrix of blanks is not given", "[answer]") {
  const Answer answer = read(R"({"Q1": [[null, null]], "K1": null, "S1": [[1, null]], "M1": [[1, null]], "M2": [[null]]})");
  REQUIRE(answer.matrices.size() == 2);
  CHECK(answer.matrices[0].step == StepId::scores);
  CHECK(answer.matrices[0].blank == std::vector<std::size_t>{1});
  CHECK(answer.matrices[1].step == StepId::masked);
  CHECK(answer.matrices[1].blank == std::vector<std::size_t>{1});
}

TEST_CASE("how exactly the numbers are written: the most in each matrix", "[answer]") {
  const auto written = [](const std::string& numbers) {
    return read(R"({"Y": [[)" + numbers + "]]}").matrices[0].writing.at(0);
  };
  const auto decimals = [&](const std::string& numbers) { return written(numbers).decimals; };
  const auto digits = [&](const std::string& numbers) { return written(numbers).digits; };
  CHECK(decimals("1, 20, -3") == 0);
  CHECK(decimals("0.5, 0.25") == 2);
  CHECK(decimals("0.50") == 2);
  CHECK(decimals("1.5e-3") == 4);
  CHECK(decimals("1.5e3, 2E+2") == 0);
  CHECK(decimals("1.2345e2") == 2);
  CHECK(decimals("0.1234567890123456") == 16);
  CHECK(digits("0.00120, 12.5") == 3);
  CHECK(digits("-0.70710678118654757") == 17);
  // The noise of binary arithmetic.
  CHECK(decimals("0.30000000000000004") == 1);
  CHECK(decimals("40772.468499999999") == 4);
  CHECK(digits("40772.468499999999") == 9);
  CHECK(written("1.50e-3, 0, 2E+1").all_in_e_notation);
  CHECK_FALSE(written("1.50e-3, 0.5").all_in_e_notation);
  const AnswerMatrix heads = read(R"({"A": [[[0.12], [0.5]], [[1], [2]]]})").matrices[0];  // two of them
  REQUIRE(heads.writing.size() == 2);
  CHECK(heads.writing[0].decimals == 2);
  CHECK(heads.writing[1].decimals == 0);
}

TEST_CASE("a key that names no step is passed over, with a suggestion", "[answer]") {
  const Answer answer = read(R"({"Y": [[1]], "weigths1": [[1]], "heads": [{"scroes": [[1]]}]})");
  REQUIRE(answer.unknown.size() == 2);
  CHECK(mentions(answer.unknown[0].en, "\"weigths1\""));
  CHECK(mentions(answer.unknown[0].en, "weights1"));
  CHECK(mentions(answer.unknown[1].en, "scores"));
}

TEST_CASE("names of other texts are understood", "[answer]") {
  struct Name {
    std::string_view key;
    StepId step;
    std::optional<Index> head;
  };
  for (const Name& name :
       {Name{"out1", StepId::head_output, 0}, Name{"H2", StepId::head_output, 1}, Name{"attn1", StepId::weights, 0},
        Name{"concat_heads", StepId::concat, {}}, Name{"Q_head1", StepId::Q, 0}, Name{"head2_K", StepId::K, 1},
        Name{"V_3", StepId::V, 2}, Name{"head_1_scores", StepId::scores, 0}, Name{"attention_weights", StepId::weights, {}},
        Name{"A^(2)", StepId::weights, 1}, Name{"out", StepId::output, {}}, Name{"Z1", StepId::scaled, 0}}) {
    CAPTURE(name.key);
    const std::optional<MatrixName> found = answer_name(name.key, false);
    REQUIRE(found.has_value());
    CHECK(name_of(found->step).id == name_of(name.step).id);
    CHECK(found->head == name.head);
  }
  for (const std::string_view unknown : {"q", "W_Q1", "b_Q", "concat1", "final_output2", "layer1.Y", "1"})
    CHECK_FALSE(answer_name(unknown, false).has_value());
  CHECK(answer_name("H", false)->step == StepId::hidden);  // with a head's number it is that head's output
  CHECK(answer_name("attn", true)->step == StepId::weights);
  CHECK(answer_name("out", true)->step == StepId::head_output);
  CHECK_FALSE(answer_name("out1", true).has_value());
}

TEST_CASE("what cannot be read as matrices of numbers, with its place", "[answer]") {
  const auto refused = [](const std::string& text, std::initializer_list<std::string_view> words) {
    const std::string message = fault_in_answer(text);
    CAPTURE(text, message);
    CHECK(mentions(message, "answers.jsonl:7:"));
    for (const std::string_view word : words) CHECK(mentions(message, word));
  };
  refused(R"({"Y": [[1, 2], [3]]})", {"length is 1 here but 2"});
  refused(R"({"Y": [1, 2]})", {"one-dimensional", "[[1, 2]]"});
  refused(R"({"Y": 3})", {"expected a matrix"});
  refused(R"({"Y": []})", {"empty"});
  refused(R"({"Y": [[]]})", {"empty"});
  refused(R"({"Y": [[1e400]]})", {"too large"});
  refused(R"({"Y": [[1]],})", {});
  refused(R"([1])", {"expected one answer"});
  refused("null", {"expected one answer"});
  refused("", {});
  refused("{}", {"no matrix of any step"});
  refused(R"({"q": [[1]]})", {"no matrix of any step", "Did you mean \"Q\"?"});
  refused(R"({"weigths1": [[1]]})", {"no matrix of any step", "weights1"});
  refused(R"({"X": [[1]], "W_O": "identity", "heads": [{"W_Q": [[1]]}]})", {"this is a problem"});
  refused(R"({"Y": [[1]], "output": [[2]]})", {"output is given twice"});
  refused(R"({"A1": [[1]], "heads": [{"weights": [[0]]}]})", {"weights1 is given twice"});
  CHECK_NOTHROW(read_answer_line(R"({"Y": [[1]], "output": [[1]]})", "same", 1));
  refused(R"({"heads": [{"head": 0, "weights": [[1]]}]})", {"heads[0].head", "from 1"});
  refused(R"({"heads": {"weights": [[1]]}})", {"expected a list of heads"});
}

TEST_CASE("a text that is no number is a blank, which is told", "[answer]") {
  const Answer answer = read(R"({"Q1": [["?", "0,50"], ["x", "-Inf"]], "Y": [[true]], "A1": "mine", "A2": " "})");
  REQUIRE(answer.matrices.size() == 1);
  CHECK(answer.matrices[0].blank == std::vector<std::size_t>{0, 2});
  CHECK(answer.matrices[0].numbers[1] == 0.5);
  CHECK(answer.matrices[0].writing.at(0).decimals == 2);
  CHECK(answer.matrices[0].numbers[3] == -std::numeric_limits<double>::infinity());
  CHECK(answer.left_blank == std::vector<StepId>{StepId::output, StepId::weights, StepId::weights});
  REQUIRE(answer.unknown.size() == 3);
  CHECK(mentions(answer.unknown[0].en, "Q1[0][0]: the text \"?\""));
  CHECK(mentions(answer.unknown[1].en, "Y[0][0]: true"));
  CHECK(mentions(answer.unknown[2].en, "A1: the text \"mine\""));
}

TEST_CASE("what a layer gives is called X with its number", "[answer]") {
  const Answer answer = read(R"({"X": [[1]], "X2": [[2]], "X₁₀": [[3]], "layer2.X": [[4]], "X0": [[1]]})");
  REQUIRE(answer.matrices.size() == 4);
  CHECK_FALSE(answer.matrices[0].is_result);
  CHECK((answer.matrices[1].is_result && answer.matrices[1].layer == 1));
  CHECK((answer.matrices[2].is_result && answer.matrices[2].layer == 9));
  CHECK((!answer.matrices[3].is_result && answer.matrices[3].layer == 1));
  CHECK(answer.unknown.size() == 1);
}

TEST_CASE("a matrix of nothing but null is one that was left blank", "[answer]") {
  const Answer answer = read(R"({"Q1": [[null]], "Y": null})");
  CHECK(answer.matrices.empty());
  CHECK(answer.left_blank == std::vector<StepId>{StepId::Q, StepId::output});
}

TEST_CASE("the place of a fault is that in the file of lines", "[answer]") {
  CHECK(mentions(fault_in_answer(R"({"name": "Anna", "Y": [[x]]})"), "answers.jsonl:7:25: "));
}

TEST_CASE("files, folders by name, lines with names", "[answer]") {
  const TemporaryFolder folder;
  folder.write("b.json", R"({"Y": [[2]]})");
  folder.write("a.json", R"({"Y": [[1]]})");
  folder.write("c.jsonl", "{\"name\": \"Anna\", \"Y\": [[3]]}\n\n{\"Y\": [[4]]}\r\n{\"Y\": oh}\n");
  folder.write("notes.txt", "not an answer");
  folder.write(".hidden.json", "not one either");
  const std::vector<AnswerSource> answers = find_answers({folder / "", folder / "b.json"}, 0);
  REQUIRE(answers.size() == 6);
  CHECK(answers[0].read().name == folder / "a.json");
  CHECK(answers[1].read().matrices.front().numbers[0] == 2);
  CHECK(answers[2].read().name == "Anna");
  CHECK(answers[3].read().name == folder / "c.jsonl:3");
  CHECK(answers[4].file == folder / "c.jsonl:4");
  CHECK_THROWS_AS(answers[4].read(), Error);
  CHECK(answers[5].read().name == folder / "b.json");
  CHECK_THROWS_AS(find_answers({folder / "none.json"}, 0).front().read(), Error);
  const TemporaryFolder empty;
  CHECK_THROWS_AS(find_answers({empty / ""}, 0), Error);
  folder.write("empty.jsonl", "\n");
  CHECK_THROWS_AS(find_answers({folder / "empty.jsonl"}, 0).front().read(), Error);
}

TEST_CASE("whose an answer is, by the names that platforms give", "[answer]") {
  const auto is = [](std::string_view path, std::string_view name, std::string_view id = "") {
    CAPTURE(path);
    const Submitter found = submitter_of(path);
    CHECK(found.name == name);
    CHECK(found.id == id);
  };
  is("anna.json", "anna");
  is("class/Anna Li/answer.json", "Anna Li");
  is("class/Anna Li/second.json", "second");
  is("answer.json", "answer");
  is("./answer.npz", "answer");
  is("all/Anna Li_12345_assignsubmission_file_answer.json", "Anna Li", "12345");
  is("all/Anna Li_12345_assignsubmission_file_/answer.json", "Anna Li", "12345");
  is("all/王伟_7_assignsubmission_file/mine.json", "王伟", "7");
  is("all/Participant_12345_assignsubmission_file_a_1_2_b.json", "Participant", "12345");
  is("all/lianna_12345_67890_answer.json", "lianna", "12345");
  is("all/lianna_LATE_12345_67890_answer-1.json", "lianna", "12345");
  is("all/week_3_answer.json", "week_3_answer");
  is("all/a.b.json", "a.b");
  is("class/Anna Li/answer.json.txt", "Anna Li");
}

TEST_CASE("one folder for each student, and names of theirs that are alike", "[answer]") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const char* text = R"({"Y": [[1]]})") {
    std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
    folder.write(name, text);
  };
  write("m/Bo_1_assignsubmission_file/answer.json");
  write("m/Bo_2_assignsubmission_file/mine.json");
  write("m/Cy_3_assignsubmission_file/read.me", "");
  write("m/Di_4_assignsubmission_file/a.json");
  write("m/Di_4_assignsubmission_file/b.json");
  const std::vector<AnswerSource> moodle = find_answers({folder / "m"}, 0);
  REQUIRE(moodle.size() == 4);
  CHECK(moodle[0].name == "Bo 1");
  CHECK(moodle[1].name == "Bo 2");
  CHECK_FALSE(moodle[2].read);
  CHECK_THROWS_AS(moodle[3].read(), Error);
  write("g/submission_11/sheet.json");
  write("g/submission_12/answer.json");
  write("g/submission_metadata.yml",
        "---\nsubmission_11:\n  :submitters:\n  - :name: Anna Li\n    :sid: '1'\n  - :name: \"Zoë: X\"\n  :results:\n    "
        ":tests:\n"
        "    - :name: Q\nsubmission_12:\n  :submitters:\n  - :name: 王伟\n");
  const std::vector<AnswerSource> gradescope = find_answers({folder / "g"}, 0);
  REQUIRE(gradescope.size() == 2);
  CHECK(gradescope[0].name == "Anna Li, Zoë: X");
  CHECK(gradescope[1].name == "王伟");
}

}  // namespace mha::test
