// mha exercise: a new problem to work out by hand, with everything that student and teacher need.

#include "study/exercise/exercise.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "compute/engine.hpp"
#include "core/csv.hpp"
#include "core/gradient.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/files/roster.hpp"
#include "io/files/sink.hpp"
#include "io/problem/answer.hpp"
#include "io/problem/problem_writer.hpp"
#include "show/writers.hpp"

namespace mha::cli {
namespace {

constexpr int page_width = 80;
constexpr int largest_seed = 2147483647;
const std::string notebook_name = "sheet.ipynb";

// As written on the command line.
struct ExerciseTexts {
  std::optional<std::string> tokens, d_model, heads, d_k, kv_heads, mask, norm, norm_place, mlp, layers, seed, difficulty,
      round, roster, lang, output, title, due;
  bool notebook = false, bias = false, residual = false, gate = false, gradient = false;
};

struct ExerciseRequest {
  study::ExerciseSizes sizes;
  const study::Difficulty* difficulty = nullptr;
  int seed = 1;
  study::WorksheetOptions worksheet;
  std::optional<std::string> title;
  std::string folder;
  const Format* sheet = nullptr;  // where -o names a file: what is written beside problem.json
  bool notebook = false;
  std::optional<std::string> roster;
};

int number_or(const std::optional<std::string>& text, std::string_view option, int otherwise, int least, int most) {
  return text ? parse_number(option, *text, least, most) : otherwise;
}

study::ExerciseSizes sizes_from(const ExerciseTexts& texts) {
  study::ExerciseSizes sizes;
  sizes.tokens = number_or(texts.tokens, "--tokens", 5, 1, 8);
  sizes.d_model = number_or(texts.d_model, "--d-model", 6, 1, 32);
  sizes.heads = number_or(texts.heads, "--heads", 3, 1, 8);
  sizes.kv_heads = number_or(texts.kv_heads, "--kv-heads", static_cast<int>(sizes.heads), 1, static_cast<int>(sizes.heads));
  if (sizes.heads % sizes.kv_heads != 0)
    throw Error({"--kv-heads {}: {} heads cannot share them evenly; choose a divisor of --heads",
                 "--kv-heads {}：{} 个头不能均分；请选 --heads 的约数"},
                sizes.kv_heads, sizes.heads);
  if (!texts.d_k && sizes.d_model % sizes.heads != 0)
    throw Error({"--heads {}: --d-model {} is not a multiple of it; choose another or give --d-k",
                 "--heads {}：--d-model {} 不是它的倍数；请另选，或给出 --d-k"},
                sizes.heads, sizes.d_model);
  sizes.d_k = number_or(texts.d_k, "--d-k", static_cast<int>(sizes.d_model / sizes.heads), 1, 8);
  sizes.causal = texts.mask && parse_choice("--mask", *texts.mask, {"none", "causal"}) == 1;
  sizes.bias = texts.bias;
  sizes.residual = texts.residual;
  if (texts.norm)
    sizes.norm = parse_choice("--norm", *texts.norm, {"layer", "rms"}) == 1 ? Norm::Kind::rms : Norm::Kind::layer;
  sizes.norm_behind = texts.norm_place && parse_choice("--norm-place", *texts.norm_place, {"pre", "post"}) == 1;
  sizes.mlp = number_or(texts.mlp, "--mlp", 0, 1, 32);
  sizes.gate = texts.gate;
  sizes.gradient = texts.gradient;
  sizes.layers = number_or(texts.layers, "--layers", 1, 1, 6);
  if (texts.norm_place && !texts.norm)
    throw Error({"--norm-place says where a norm stands; give --norm layer or rms as well",
                 "--norm-place 指定归一化的位置；请同时写 --norm layer 或 rms"});
  if (texts.gate && !texts.mlp)
    throw Error({"--gate is that of an MLP; give --mlp with its width as well",
                 "--gate 是 MLP 的门控；请同时用 --mlp 写出它的宽度"});
  return sizes;
}

ExerciseRequest exercise_request_from(const ExerciseTexts& texts, const World& world) {
  if (!texts.output)
    throw Error(
        {"where to? Name a folder: -o DIR; it is made if it is missing", "写到哪里？请指定文件夹：-o 文件夹；没有就新建"});
  ExerciseRequest request;
  request.sizes = sizes_from(texts);
  request.difficulty = &study::difficulties[parse_choice("--difficulty", texts.difficulty.value_or("normal"),
                                                         column_of(study::difficulties, &study::Difficulty::name))];
  request.sizes.activation = request.difficulty->activation;
  request.sizes.final_norm = request.difficulty->final_norm && request.sizes.norm && !request.sizes.norm_behind;
  request.seed = number_or(texts.seed, "--seed", 1, 0, largest_seed);
  const show::PageOptions page = language_from(texts.lang, world);
  request.worksheet.language = page.language;
  request.worksheet.both_languages = page.both_languages;
  request.worksheet.decimals = number_or(texts.round, "--round", 3, 0, 12);
  request.folder = *texts.output;
  request.notebook = texts.notebook;
  request.roster = texts.roster;
  request.sheet = format_of_file(*texts.output, page_only);
  const Format& written = request.sheet != nullptr ? *request.sheet : format_named({}, page_only);
  refuse_unread(std::array{&written}, world);
  if (request.sheet != nullptr && request.roster)
    throw Error({"--roster makes a folder for each student; name a folder with -o",
                 "--roster 为每个学生建文件夹；请用 -o 写文件夹"});
  if (request.sheet != nullptr && texts.notebook)
    throw Error({"--notebook stands beside the other files of a folder; name a folder with -o, or leave --notebook out",
                 "--notebook 写在文件夹的其他文件旁边；请用 -o 写文件夹，或去掉 --notebook"});
  for (const auto& [option, text] : {std::pair{"--title", texts.title}, {"--due", texts.due}})
    if (text && !is_utf8(*text))
      throw Error({"{}: it is no UTF-8, and the files of an exercise hold nothing else",
                   "{}：它不是 UTF-8，而练习的文件只能是 UTF-8"},
                  option);
  request.title = texts.title;
  request.worksheet.due = texts.due.value_or("");
  return request;
}

constexpr Text student_files = {"worksheet.txt, worksheet.md, problem.json and answer.json",
                                "worksheet.txt、worksheet.md、problem.json 和 answer.json"};
constexpr Text teacher_files = {"key.json, key_rounded.json and mistakes.json",
                                "key.json、key_rounded.json 和 mistakes.json"};

constexpr Text sheet_written = {"{0} is to be filled in, and {1} is its problem; then: `mha check {1} {2}`",
                                "{0} 供填写，{1} 是它的题目；填好以后：`mha check {1} {2}`"};
constexpr Text notebook_written = {
    "{0} is to be filled in, and {1} is its problem; `jupyter lab {0}` opens it, and its last "
    "cell writes {2} and has it checked",
    "{0} 供填写，{1} 是它的题目；`jupyter lab {0}` 打开它，最后一个单元会写出 {2} 并检查"};

// Where the files of one exercise go; the teacher's are not in the folder that is handed out.
struct Folders {
  std::string student, teacher;
};

void write_key(io::Sink& sink, const Problem& problem, std::optional<int> rounding) {
  const Plan plan = plan_with_gradient(problem);
  const Selection all;
  io::write_trace(sink, problem, plan,
                  compute::run(plan, {compute::values_to_keep(plan, all, false), Dtype::f64, rounding}), all, false);
}

// Nobody's work is written over, nor the sheet that others have by now: one exercise a folder.
void refuse_filled_in(const std::string& folder, const Problem& problem) {
  const auto is_file = [](const std::string& path) {
    const auto status = io::status_of(path);
    return status && S_ISREG(status->st_mode);
  };
  if (const std::string path = folder + "/answer.json"; is_file(path) && io::is_filled_in(path))
    throw Error({"{} is filled in already; name another folder with -o, or move that file away",
                 "{} 已经填写；请用 -o 另写一个文件夹，或移走该文件"},
                path);
  io::StringSink text;
  io::write_problem(text, problem);
  if (const std::string path = folder + "/problem.json"; is_file(path) && io::InputFile(path).text() != text.text())
    throw Error({"{} is of another exercise; name another folder with -o, or move these files away",
                 "{} 属于另一道练习；请用 -o 另写一个文件夹，或移走那些文件"},
                path);
}

// In one of the formats; what somebody has filled in by now stays.
study::WorksheetOptions::On write_sheet(const Problem& problem, study::WorksheetOptions options, const Format& format,
                                        const std::string& path, std::deque<io::OutputFile>& files) {
  using On = study::WorksheetOptions::On;
  options.on = format.ending == ".ipynb" ? On::notebook : format.ending == ".xlsx" ? On::sheet : On::paper;
  if (options.on == On::sheet) options.answer = path.substr(path.rfind('/') + 1);
  show::PageOptions languages;
  languages.language = options.language, languages.both_languages = options.both_languages;
  const auto sheet = [&](const show::PageOptions& page) {
    options.language = page.language;
    return study::worksheet(problem, options);
  };
  const std::string text = format.write(page_in(format, languages, sheet), {page_width, false, false});
  if (const auto status = io::status_of(path); status && S_ISREG(status->st_mode) && io::InputFile(path).text() != text)
    throw Error({"{} is there already, and may be filled in; name another with -o, or move that file away",
                 "{} 已经存在，可能已填写；请用 -o 另写一个，或移走该文件"},
                path);
  files.emplace_back(path).sink().write(text);
  return options.on;
}

// All files of one exercise, or none.
void write_exercise_files(const Problem& problem, const study::WorksheetOptions& options, const Folders& folders,
                          bool notebook) {
  io::make_folder(folders.student);
  io::make_folder(folders.teacher);
  std::deque<io::OutputFile> files;
  const auto open = [&files](const std::string& folder, const char* name) -> io::Sink& {
    return files.emplace_back(folder + "/" + name).sink();
  };
  const show::Document page = study::worksheet(problem, options);
  io::write_problem(open(folders.student, "problem.json"), problem);
  if (notebook)
    write_sheet(problem, options, *format_of_file(notebook_name, page_only), folders.student + "/" + notebook_name, files);
  const show::TextStyle style{page_width, false, false};
  open(folders.student, "worksheet.md").write(show::write_markdown(page, style));
  open(folders.student, "worksheet.txt").write(show::write_text(page, style));
  study::write_answer_template(open(folders.student, "answer.json"), problem);
  write_key(open(folders.teacher, "key.json"), problem, std::nullopt);
  write_key(open(folders.teacher, "key_rounded.json"), problem, options.decimals);
  study::write_mistakes(open(folders.teacher, "mistakes.json"), problem);
  io::commit_all(files);
}

Problem drawn(const ExerciseRequest& request, const study::ExerciseMaker& maker, std::uint32_t seed) {
  Problem problem = maker.draw(seed);
  if (request.title) problem.title = {*request.title, "", false};
  return problem;
}

void write_for_class(const ExerciseRequest& request, const study::ExerciseMaker& maker, World& world) {
  const std::string teacher = request.folder + "/teacher";
  std::vector<Problem> problems;
  const std::vector<io::Student> students = io::read_roster(*request.roster);
  const auto is_marked = [](const io::Student& student) { return !(student.id + student.email).empty(); };
  const std::size_t columns = std::any_of(students.begin(), students.end(), is_marked) ? 5 : 3;
  const auto line = [&](std::vector<std::string> fields) {
    fields.resize(columns);
    return csv_line(fields);
  };
  std::string index = line({"name", "folder", "seed", "id", "email"});
  io::make_folder(request.folder);
  const io::FolderLock lock(request.folder);
  for (const io::Student& student : students) {
    const std::uint32_t seed = study::student_seed(static_cast<std::uint32_t>(request.seed), student.name);
    problems.push_back(drawn(request, maker, seed));
    refuse_filled_in(request.folder + "/" + student.folder, problems.back());
    index += line(
        {csv_text(student.name), student.folder, fmt::format("{}", seed), csv_text(student.id), csv_text(student.email)});
  }
  for (std::size_t i = 0; i < students.size(); ++i) {
    study::WorksheetOptions options = request.worksheet;
    options.student = students[i].name;
    write_exercise_files(problems[i], options,
                         {request.folder + "/" + students[i].folder, teacher + "/" + students[i].folder}, request.notebook);
  }
  io::OutputFile file(teacher + "/index.csv");
  file.sink().write(index);
  file.commit();
  tell(world,
       {"{0} holds a folder with {1} for each student ({2} in all), and {3} what the teacher keeps; when they have handed "
        "in: `mha check {4} --summary`",
        "{0} 中有 {2} 个学生各自的文件夹（{1}），教师自留的在 {3}；收齐以后：`mha check {4} --summary`"},
       request.folder, student_files, students.size(), teacher, shell_word(request.folder));
}

void write_one(const ExerciseRequest& request, const study::ExerciseMaker& maker, World& world) {
  const Problem problem = drawn(request, maker, static_cast<std::uint32_t>(request.seed));
  if (request.sheet != nullptr) {
    const std::size_t slash = request.folder.rfind('/');
    const std::string beside = request.folder.substr(0, slash + 1), folder = beside.empty() ? "." : beside;
    io::make_folder(folder);
    const io::FolderLock lock(folder);
    refuse_filled_in(folder, problem);
    std::deque<io::OutputFile> files;
    using On = study::WorksheetOptions::On;
    io::write_problem(files.emplace_back(beside + "problem.json").sink(), problem);
    const On on = write_sheet(problem, request.worksheet, *request.sheet, request.folder, files);
    if (on == On::paper) study::write_answer_template(files.emplace_back(beside + "answer.json").sink(), problem);
    io::commit_all(files);
    return tell(world, on == On::notebook ? notebook_written : sheet_written, shell_word(request.folder),
                shell_word(beside + "problem.json"), shell_word(on == On::sheet ? request.folder : beside + "answer.json"));
  }
  io::make_folder(request.folder);
  const io::FolderLock lock(request.folder);
  refuse_filled_in(request.folder, problem);
  write_exercise_files(problem, request.worksheet, {request.folder, request.folder}, request.notebook);
  const std::string problem_file = shell_word(request.folder + "/problem.json"),
                    answer_file = shell_word(request.folder + "/answer.json");
  tell(world,
       {"{0} holds {1}, and for the teacher {2}; when answer.json is filled in: "
        "`mha check {3} {4}`",
        "{0} 中有 {1}，给教师的有 {2}；填好 answer.json 以后：`mha check {3} {4}`"},
       request.folder, student_files, teacher_files, problem_file, answer_file);
  if (request.notebook)
    tell(world, notebook_written, shell_word(request.folder + "/" + std::string(notebook_name)), problem_file, answer_file);
}

void warn_of_blind_spots(const study::ExerciseSizes& sizes, const study::BlindSpots& spots, World& world) {
  if (!spots.hidden.empty())
    tell(world,
         {"these sizes hide {}: whoever makes one of these mistakes gets every number right",
          "这种规模看不出 {}：犯了这些错误，每个数仍然正确"},
         listed(spots.hidden));
  for (const std::vector<std::string_view>& group : spots.alike)
    tell(world, {"these sizes cannot tell {} apart: they give the same numbers", "这种规模无法区分 {}：它们得出相同的数"},
         listed(group));
  if (spots.hidden.empty() && spots.alike.empty()) return;
  const study::ExerciseSizes better = study::well_chosen(sizes);
  const std::string groups = better.heads == better.kv_heads ? "" : fmt::format(" --kv-heads {}", better.kv_heads);
  tell(world,
       {"--tokens {} --d-model {} --heads {}{} shows and tells apart all that can be",
        "--tokens {} --d-model {} --heads {}{} 能看出并区分一切可能的错误"},
       better.tokens, better.d_model, better.heads, groups);
}

}  // namespace

Action setup_exercise(CommandLine& app) {
  auto texts = std::make_shared<ExerciseTexts>();
  declare_option(app, "-o,--output", texts->output, "DIR|FILE",
                 {"the folder to write to, made if it is missing; or a sheet alone, by its ending (.ipynb, .xlsx, .html, "
                  "…), with problem.json beside it, and answer.json where the sheet itself cannot be filled in",
                  "写到这个文件夹，没有就新建；或只写一份练习单，由扩展名（.ipynb、.xlsx、.html……）决定格式，旁边有 "
                  "problem.json；不能在其中填写的，还有 answer.json"});
  declare_flag(app, "--notebook", texts->notebook,
               {"a notebook as well, sheet.ipynb, which is filled in and has itself checked",
                "另写一个可以填写并自行检查的笔记本 sheet.ipynb"});
  declare_option(app, "--tokens", texts->tokens, "N", {"tokens (5)", "词元数（默认 5）"});
  declare_option(app, "--d-model", texts->d_model, "N", {"width of a token (6)", "词元的宽度（默认 6）"});
  declare_option(app, "--heads", texts->heads, "N", {"heads (3)", "头数（默认 3）"});
  declare_option(app, "--d-k", texts->d_k, "N", {"width of a head (d_model / heads)", "头的宽度（默认 d_model / heads）"});
  declare_option(
      app, "--kv-heads", texts->kv_heads, "N",
      {"heads that share keys and values in groups (as many as heads)", "分组共用键和值的头数（默认与 heads 相同）"});
  declare_option(app, "--mask", texts->mask, "none|causal", {"mask (none)", "掩码（默认 none）"});
  declare_flag(app, "--bias", texts->bias, {"with biases", "带偏置"});
  declare_flag(app, "--residual", texts->residual, {"with residual sums", "有残差连接"});
  declare_option(app, "--norm", texts->norm, "layer|rms",
                 {"a norm for each sublayer (none)", "每个子层一个归一化（默认没有）"});
  declare_option(app, "--norm-place", texts->norm_place, "pre|post",
                 {"before its sublayer or behind (pre)", "在子层之前还是之后（默认 pre）"});
  declare_option(
      app, "--mlp", texts->mlp, "F",
      {"an MLP of this width, with ReLU, hard with SiLU (none)", "这个宽度的 MLP，用 ReLU，hard 用 SiLU（默认没有）"});
  declare_flag(app, "--gate", texts->gate, {"the MLP has a gate", "MLP 带门控"});
  declare_option(app, "--layers", texts->layers, "N", {"layers on one another (1)", "层数（默认 1）"});
  declare_flag(app, "--gradient", texts->gradient,
               {"and back: the gradients of a loss, to be worked out as well", "还有反向传播：同时要算出损失的各梯度"});
  declare_option(
      app, "--difficulty", texts->difficulty, "easy|normal|hard",
      {"whole numbers, halves in the weights, or tenths (normal)", "整数、权重矩阵中有半数，或一位小数（默认 normal）"});
  declare_option(
      app, "--seed", texts->seed, "N",
      {"another seed gives other numbers, the same one the same (1)", "种子不同，数就不同；种子相同，数就相同（默认 1）"});
  declare_option(app, "--roster", texts->roster, "FILE",
                 {"a CSV file with a name on each line: an exercise for each", "CSV 文件，每行一个姓名：每人一份练习"});
  declare_option(
      app, "--round", texts->round, "N",
      {"decimals of the worksheet and of key_rounded.json (3)", "练习单和 key_rounded.json 的小数位数（默认 3）"});
  declare_option(app, "--title", texts->title, "TEXT",
                 {"the title of the sheet (Exercise SEED)", "练习单的标题（默认：练习 SEED）"});
  declare_option(app, "--due", texts->due, "TEXT",
                 {"until when it is handed in, as it shall stand there", "截止时间，照所写的印上"});
  declare_language(app, texts->lang, {"worksheet", "练习单"});
  declare_examples(
      app,
      {"DIR gets problem.json, worksheet.md, worksheet.txt and answer.json (to be filled in), and for the teacher "
       "key.json, key_rounded.json and mistakes.json. With --roster each student gets DIR/NAME, and the teacher "
       "DIR/teacher.",
       "文件夹里会有 problem.json、worksheet.md、worksheet.txt 和 answer.json（供填写），以及给教师的 "
       "key.json、key_rounded.json 和 mistakes.json。有 --roster 时，每个学生的在 文件夹/姓名，教师的在 文件夹/teacher。"},
      {{"mha exercise -o monday                       5 ", {"tokens, d_model 6, 3 heads", "个词元，d_model 6，3 个头"}},
       {"mha exercise --tokens 5 --mask causal --bias --seed 7 -o week2"},
       {"mha exercise --residual --norm layer --mlp 6 --layers 2 -o deep"},
       {"mha exercise --gradient --bias -o back       ", {"with the backward pass", "连同反向传播"}},
       {"mha exercise --roster names.csv -o class     ", {"everyone gets other numbers", "每人的数都不同"}},
       {"mha check monday/problem.json monday/answer.json"}});
  return [texts](World& world) {
    const ExerciseRequest request = exercise_request_from(*texts, world);
    const study::ExerciseMaker maker(request.sizes, *request.difficulty);
    warn_of_blind_spots(request.sizes, maker.blind_spots(), world);
    request.roster ? write_for_class(request, maker, world) : write_one(request, maker, world);
  };
}

}  // namespace mha::cli
