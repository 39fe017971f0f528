// Where answers are.
#include "io/files/roster.hpp"

#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"

namespace mha::io {
namespace {

constexpr std::string_view problem_name = "problem.json", students_index = "index.csv", teachers_folder = "teacher";

// What an exercise without a class list puts beside the answer.
bool is_teachers(std::string_view name) {
  return name == "key.json" || name == "key_rounded.json" || name == "mistakes.json";
}

bool has_lines(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

std::string in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

// Whether both have the same letters, in whatever order the parts of a name are written.
bool same_letters(std::string_view a, std::string_view b) {
  const auto letters_of = [](std::string_view name) {
    std::string letters;
    for (const char c : plain(name))
      if (static_cast<unsigned char>(c) > 127 || std::isalpha(c) != 0) letters += static_cast<char>(std::tolower(c));
    std::sort(letters.begin(), letters.end());
    return letters;
  };
  return !letters_of(a).empty() && letters_of(a) == letters_of(b);
}

// Where the name stands in the answer: false where that cannot be read, which is told when it is checked.
bool find_name(AnswerSource& answer) {
  try {
    if (answer.name.empty()) answer.name = answer.read().name;
  } catch (const Error&) {
    return false;
  }
  return true;
}

// How an answer is a student's: by the name, in the list's words or without what tells namesakes apart;
bool has_name(const AnswerSource& student, const AnswerSource& answer) {
  return plain(student.name) == plain(answer.name) || plain(student.student.plain_name()) == plain(answer.name);
}

// by the id or the e-mail, which stand in the name or beside it;
bool has_id(const AnswerSource& student, const AnswerSource& answer) {
  const std::string id = lower_case(student.student.id), email = lower_case(student.student.email);
  for (const std::string& text : {answer.name, answer.student.id, answer.student.email})
    if (const std::string called = lower_case(text); !called.empty())
      if (called == id || called == email || called == email.substr(0, email.find('@'))) return true;
  return false;
}

// by the letters of the name;
bool has_letters(const AnswerSource& student, const AnswerSource& answer) {
  return same_letters(student.student.name.empty() ? student.name : student.student.plain_name(), answer.name);
}

// and of namesakes by the id beside them, which may be the platform's own.
bool has_letters_and_id(const AnswerSource& student, const AnswerSource& answer) {
  const std::string& id = student.student.id;
  return !id.empty() && has_letters(student, answer) &&
         (id == submitter_of(answer.file).id || answer.name.find(id) != std::string::npos);
}

// Collects the answers of all arguments.
class AnswerFinder {
 public:
  AnswerFinder(int standard_input, const std::optional<std::string>& as, std::vector<std::string>* passed_over)
      : standard_input_(standard_input), as_(as), passed_over_(passed_over) {}

  void add(const std::string& path) {
    const auto status = status_of(path);
    if (path == "-")
      sources_.push_back({path, path, [descriptor = standard_input_] { return read_answer_fd(descriptor, "-"); }});
    else if (status && S_ISDIR(status->st_mode))
      add_folder(path);
    else
      add_file(path);
  }

  void add_class(const std::string& folder) {
    list_students(folder);
    std::vector<std::string> students = in_order(folders_in(folder));
    const auto has_problem = [&](const std::string& student) { return status_of(in(in(folder, student), problem_name)); };
    if (std::none_of(students.begin(), students.end(), has_problem)) students.clear();
    for (const std::string& student : students)
      if (const std::string place = in(folder, student); has_problem(student) || (listed(student) && status_of(place)))
        add_student(place, student);
      else if (listed(student))  // and the folder is gone
        sources_.push_back({listed(student)->name, in(place, "answer.json"), {}, {}, *listed(student)});
      else if (student != teachers_folder)
        pass_over(place);
    if (!sources_.empty())
      for (const std::string& name : answers_in(folder)) pass_over(in(folder, name));
    if (sources_.empty() && status_of(in(folder, problem_name))) add_student(folder, "");
    if (sources_.empty())
      throw Error(
          {"{}: there is no problem.json in this folder, nor in a folder in it; a class is what `mha exercise --roster` "
           "writes",
           "{}：这个文件夹里没有 problem.json，其中的文件夹里也没有；一个班是 `mha exercise --roster` 写出的文件夹"},
          folder);
    for (AnswerSource& source : sources_)
      if (const std::string place = folder_of(source.file); status_of(place)) source.problem = in(place, problem_name);
  }

  std::vector<AnswerSource> take() {
    tell_apart();
    return std::move(sources_);
  }

 private:
  // With the folders as they are called there: some systems spell accents otherwise.
  void list_students(const std::string& folder) {
    listed_ = students_in(folder);
    for (const std::string& name : folders_in(folder))
      for (Student& student : listed_)
        if (plain(student.folder) == plain(name) && !status_of(in(folder, student.folder))) student.folder = name;
  }

  const Student* listed(const std::string& folder) const {
    const auto found = std::find_if(listed_.begin(), listed_.end(), [&](const auto& row) { return row.folder == folder; });
    return found == listed_.end() ? nullptr : &*found;
  }

  void pass_over(const std::string& path) const {
    if (passed_over_ != nullptr) passed_over_->push_back(path);
  }

  // As the class list has them, also those that are not there; behind them the folders that it does not name.
  std::vector<std::string> in_order(const std::vector<std::string>& folders) const {
    std::vector<std::string> students;
    for (const Student& student : listed_)
      if (!student.folder.empty()) students.push_back(student.folder);
    std::copy_if(folders.begin(), folders.end(), std::back_inserter(students),
                 [&](const std::string& folder) { return listed(folder) == nullptr; });
    return students;
  }

  std::vector<std::string> answers_in(const std::string& folder) const {
    std::vector<std::string> names = files_in(folder);
    std::erase_if(names, [&](const std::string& name) {
      const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
      if (name == problem_name || name == students_index) return true;
      if (ends(".json") || ends(".json.txt") || ends("steps.csv") || ends("answer.csv") || ends("sheet.xlsx") ||
          has_lines(name) || ends(".npz") || ends(".safetensors") || (as_ && ends(".npy")))
        return false;
      const bool may_hold_steps = holds_table(name) || holds_sheets(name);
      const bool is_answer = may_hold_steps && !is_foreign_table(in(folder, name));
      if (!is_answer && (may_hold_steps || ends(".tsv") || ends(".xls") || ends(".ods"))) pass_over(in(folder, name));
      return !is_answer;
    });
    return names;
  }

  // Its files, and where one of the folders in it holds an answer, these as well, also those that hold none.
  void add_folder(const std::string& folder) {
    const std::size_t before = sources_.size();
    for (const std::string& name : answers_in(folder)) add_file(in(folder, name));
    const std::size_t files = sources_.size();
    list_students(folder);
    for (const std::string& student : in_order(folders_in(folder)))
      if (student != teachers_folder && status_of(in(folder, student))) add_student(in(folder, student), student);
    const auto is_there = [](const AnswerSource& source) { return static_cast<bool>(source.read); };
    const auto first = sources_.begin() + static_cast<std::ptrdiff_t>(files);
    if (std::any_of(first, sources_.end(), is_there)) return;
    for (auto source = first; source != sources_.end(); ++source) pass_over(folder_of(source->file));
    sources_.erase(first, sources_.end());
    if (files > before) return;
    throw Error(
        {"{}: no answers in this folder; they are files that end in .json, .jsonl, .csv (with the columns of "
         "steps.csv), .xlsx, .npz or .safetensors, here or in a folder for each student",
         "{}：这个文件夹里没有答卷；答卷是以 .json、.jsonl、.csv（有 steps.csv 的各列）、.xlsx、.npz 或 .safetensors "
         "结尾的文件，放在这里，或每个学生一个文件夹"},
        folder);
  }

  // What a student's folder holds: of the files that are called as an answer is those that are filled in, or else of the
  // others.
  void add_student(const std::string& folder, const std::string& student) {
    const std::string usual = in(folder, "answer.json");
    AnswerSource source{submitter_of(usual).name, usual, {}};
    if (const Student* known = listed(student)) source.name = known->name, source.student = *known;
    try {
      std::vector<std::string> names = answers_in(folder);
      const auto is_called_so = [](const std::string& name) {
        return name.starts_with("answer.") || name == "steps.csv" || name == "sheet.xlsx";
      };
      std::stable_partition(names.begin(), names.end(), is_called_so);
      if (names.size() > 1) {
        std::vector<std::string> filled = names;
        std::erase_if(filled,
                      [&](const std::string& name) { return is_teachers(name) || !is_filled_in(in(folder, name)); });
        if (!filled.empty() && is_called_so(filled.front())) std::erase_if(filled, std::not_fn(is_called_so));
        names = filled.empty() ? std::vector{names.front()} : filled;
      }
      if (names.size() > 1)
        throw Error({"{}: which of these is the answer? {}; leave one", "{}：哪一个是答卷？{}；请只留一个"}, folder,
                    mha::listed(names));
      if (!names.empty()) {
        source.file = in(folder, names.front());
        source.read = [file = source.file, as = as_] { return read_answer_file(file, as); };
      }
    } catch (const Error& error) {
      source.read = [error]() -> Answer { throw error; };
    }
    sources_.push_back(std::move(source));
  }

  // The text stays in memory as long as one of its lines is to be read.
  void add_lines(const std::string& path) {
    const auto text = std::make_shared<const std::string>(InputFile(path).text());
    Index line = 0;
    for (std::size_t start = 0; start < text->size();) {
      const std::size_t end = std::min(text->find('\n', start), text->size());
      const std::string_view content = std::string_view(*text).substr(start, end - start);
      ++line;
      start = end + 1;
      if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      sources_.push_back({"", fmt::format("{}:{}", path, line),
                          [text, content, path, line] { return read_answer_line(content, path, line); }});
    }
  }

  void add_file(const std::string& path) {
    const std::size_t before = sources_.size();
    const std::string name = submitter_of(path).name;
    try {
      if (has_lines(path)) add_lines(path);
    } catch (const Error& error) {
      return sources_.push_back({name, path, [error]() -> Answer { throw error; }});
    }
    if (sources_.size() == before)
      sources_.push_back({name, path, [path, as = as_] { return read_answer_file(path, as); }});
  }

  // Where two have one name, the platform's number stands behind it, or else the file. Of a student's folders, as Moodle
  // has one for files and one for text, an empty one counts where there is nothing else.
  void tell_apart() {
    std::set<Submitter> seen;
    for (const AnswerSource& source : sources_)
      if (source.read) seen.insert(submitter_of(source.file));
    std::erase_if(sources_, [&](const AnswerSource& source) {
      const Submitter who = submitter_of(source.file);
      return !source.read && !who.id.empty() && !seen.insert(who).second;
    });
    for (const bool by_number : {true, false}) {
      std::map<std::string, std::set<std::string>> files;
      for (const AnswerSource& source : sources_) files[source.name].insert(source.file);
      for (AnswerSource& source : sources_) {
        if (source.name.empty() || files[source.name].size() == 1) continue;
        const std::string id = submitter_of(source.file).id;
        if (!by_number)
          source.name = source.file;
        else if (!id.empty())
          source.name += " " + id;
      }
    }
  }

  int standard_input_;
  std::optional<std::string> as_;
  std::vector<std::string>* passed_over_;
  std::vector<Student> listed_;  // of the folders beside each other
  std::vector<AnswerSource> sources_;
};

}  // namespace

std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input,
                                       const std::optional<std::string>& as, std::vector<std::string>* passed_over) {
  AnswerFinder finder(standard_input, as, passed_over);
  for (const std::string& path : paths) finder.add(path);
  return finder.take();
}

std::vector<AnswerSource> find_class(const std::string& folder, std::vector<AnswerSource> collected,
                                     std::vector<std::string>& passed_over) {
  AnswerFinder finder(-1, std::nullopt, collected.empty() ? &passed_over : nullptr);
  finder.add_class(folder);
  std::vector<AnswerSource> students = finder.take();
  if (collected.empty()) return students;
  for (AnswerSource& student : students) student.file.clear(), student.read = {};
  for (AnswerSource& answer : collected) {
    const bool readable = find_name(answer);
    auto found = students.end();
    for (const auto is_it : {has_name, has_id, has_letters, has_letters_and_id}) {
      const auto is_of = [&](const AnswerSource& student) { return !student.problem.empty() && is_it(student, answer); };
      const auto first = std::find_if(students.begin(), students.end(), is_of);
      if (found == students.end() && first != students.end() && !first->read &&
          std::none_of(first + 1, students.end(), is_of))
        found = first;
    }
    if (found != students.end())
      answer.name = found->name, answer.problem = found->problem;
    else if (std::any_of(students.begin(), students.end(),
                         [&](const auto& student) { return student.name == answer.name; }))
      answer.name = answer.file;  // a second one of hers
    if (found == students.end() && readable)
      answer.read = [file = answer.file]() -> Answer {
        throw Error({"{}: its name is that of no student of the class, of several, or of one who has another answer; call "
                     "it as the student's id in the class list",
                     "{}：班上没有叫这个名字的学生，或有几个，或该学生已有另一份答卷；请用名单中的学号作文件名"},
                    file);
      };
    (found == students.end() ? students.emplace_back() : *found) = std::move(answer);
  }
  return students;
}

}  // namespace mha::io
