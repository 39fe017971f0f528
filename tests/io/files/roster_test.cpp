// Class lists: names out of CSV, folders out of names.
#include "io/files/roster.hpp"

#include "catch.hpp"
#include "core/csv.hpp"
#include "io/files/temporary_folder.hpp"

namespace mha::test {
namespace {

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> result;
  for (const Student& student : parse_roster(text, "names.csv")) result.push_back(student.name);
  return result;
}

std::vector<std::string> folders(std::string_view text) {
  std::vector<std::string> result;
  for (const Student& student : parse_roster(text, "names.csv")) result.push_back(student.folder);
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the first column of every line that is not blank is a name", "[roster]") {
  CHECK(names_in("Anna\nBert\n") == Texts{"Anna", "Bert"});
  CHECK(names_in("\xEF\xBB\xBF"
                 "Anna,12,x\r\n\r\n  \n 张三 ,3\r\nZoë") == Texts{"Anna", "张三", "Zoë"});
  CHECK(names_in("\"O'Neil, Pat\",1\n\"the \"\"big\"\" one\"\n\" Bo \"\n") ==
        Texts{"O'Neil, Pat", "the \"big\" one", "Bo"});
}

TEST_CASE("a line of headings is no student, and says where the names are", "[roster]") {
  CHECK(names_in("name,email\nAnna,a@x\n") == Texts{"Anna"});
  CHECK(names_in("\xEF\xBB\xBF学号;姓名;班级\n1001;张三;2\n1002;\"李, 四\";2\n") == Texts{"张三", "李, 四"});
  CHECK(names_in("First name\tLast name\tE-mail\nAnna\tLi\ta@x\n") == Texts{"Anna Li"});
  CHECK(names_in("姓,名\n张,三\n") == Texts{"张三"});
  CHECK(names_in("Email address\nanna@x\n") == Texts{"anna@x"});
  CHECK(names_in("姓名\n张三\n") == Texts{"张三"});
  CHECK(names_in("Name;Vorname;Matrikelnummer\nLi;Anna;1\nKim;Bert;2\n") == Texts{"Anna Li", "Bert Kim"});
  CHECK(names_in("Nr.;Name, Vorname;Matrikel\n1;\"Li, Anna\";1001\n2;Kim, Bert;1002\n") == Texts{"Li, Anna", "Kim, Bert"});
  CHECK(names_in("Nom;Prénom\nLi;Anna\n") == Texts{"Anna Li"});
  CHECK(names_in("Anna,class\nBert,class\n") == Texts{"Anna", "Bert"});
}

TEST_CASE("columns are separated by commas, semicolons or tabs", "[roster]") {
  CHECK(names_in("Anna;1\nBert;2\n") == Texts{"Anna", "Bert"});
  CHECK(names_in("Li, Anna;1\nKim, Bert;2\n") == Texts{"Li, Anna", "Kim, Bert"});
  CHECK(names_in("Anna\t1\nBert\t2\n,,\n") == Texts{"Anna", "Bert", ",,"});
  CHECK(names_in("Anna,1\nBert,2\n,,\n") == Texts{"Anna", "Bert"});
}

TEST_CASE("an index gives the names of folders", "[roster]") {
  const TemporaryFolder folder;
  folder.write("index.csv", csv_line({"name", "folder", "seed", "id"}) + csv_line({"a/b", "a_b", "1", "007"}) +
                                csv_line({csv_text("=1+1"), "_1+1", "2", csv_text("-5")}));
  const std::vector<Student> students = read_index(folder / "index.csv");
  REQUIRE(students.size() == 2);
  CHECK((students[0].folder == "a_b" && students[0].name == "a/b" && students[0].id == "007"));
  CHECK((students[1].folder == "_1+1" && students[1].name == "=1+1" && students[1].id == "-5"));
}

TEST_CASE("namesakes have their id, or else their e-mail, behind the name, and nobody else has", "[roster]") {
  const std::vector<Student> students =
      parse_roster("name,id,email\nLi Wei,1003,a@x\nBo,7,b@x\nLi Wei,,c@x\nLi Wei\n", "names.csv");
  Texts names, plain, folders_of;
  for (const Student& student : students)
    names.push_back(student.name), plain.push_back(student.plain_name()), folders_of.push_back(student.folder);
  CHECK(names == Texts{"Li Wei (1003)", "Bo", "Li Wei (c@x)", "Li Wei"});
  CHECK(folders_of == names);
  CHECK(plain == Texts{"Li Wei", "Bo", "Li Wei", "Li Wei"});
  CHECK_THROWS_WITH(names_in("name,id\nBo,1\nBo,2\nBo,1\n"),
                    Catch::Contains("names.csv:4: ") && Catch::Contains("\"Bo (1)\" stands in line 2"));
}

TEST_CASE("what is no name is told with its line", "[roster]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(names_in("Anna\n\nAnna\n"), Contains("names.csv:3: ") && Contains("\"Anna\"") && Contains("line 1"));
  CHECK_THROWS_WITH(names_in("Anna\n,x\n"), Contains("names.csv:2: no name"));
  CHECK_THROWS_WITH(names_in("\"Anna\n"), Contains("names.csv:1: the quotes"));
  CHECK_THROWS_WITH(names_in("\xD5\xC5\xC8\xFD\n"), Contains("names.csv:1: ") && Contains("UTF-8"));  // 张三 in GBK
  CHECK_THROWS_WITH(names_in("\n \n"), Contains("names.csv: no names"));
  CHECK_THROWS_WITH(read_roster("/no/such/names.csv"), Contains("no such file"));
}

TEST_CASE("folders keep letters of any script and nothing that a file system minds", "[roster]") {
  CHECK(folders("Zoë Müller\n张三\nО. Иванова\n") == Texts{"Zoë Müller", "张三", "О. Иванова"});
  CHECK(folders("../etc\na/b\\c:d*e?\n..\n-rf\n~\nx.\n") == Texts{"_._etc", "a_b_c_d_e_", "__", "_rf", "_", "x_"});
  CHECK(folders("a\x1b[2J\xe2\x80\xae") == Texts{"a_u001b[2J_u202e"});
}

TEST_CASE("no two folders are the same, however the file system compares them", "[roster]") {
  CHECK(folders("a/b\na:b\nA?B\nTeacher\n") == Texts{"a_b", "a_b (2)", "A_B (3)", "Teacher (2)"});
  const Texts long_ones = folders(std::string(60, 'x') + "1\n" + std::string(60, 'x') + "2\n");
  CHECK(long_ones[0] != long_ones[1]);
  CHECK(long_ones[0].size() < 60);
}

TEST_CASE("lists are read from files", "[roster]") {
  const TemporaryFolder folder;
  folder.write("names.csv", "Anna\nBert\n");
  CHECK(read_roster(folder / "names.csv").size() == 2);
}

TEST_CASE("fields are quoted where they must be", "[roster]") {
  CHECK(csv_line({"a", "b c", "1"}) == "a,b c,1\n");
  CHECK(csv_line({"a;b", "c\td"}) == "\"a;b\",\"c\td\"\n");
  for (const char* formula : {"=1", "+1", "-1", "@x", "＝1", "−1"}) CHECK(csv_text(formula) == std::string("'") + formula);
  CHECK(csv_text("\tx\xe2\x80\xae") == "\\tx\\u202e");
  CHECK(csv_text("Anna = Bo") == "Anna = Bo");
  CHECK(csv_line({"a,b", "say \"hi\"", ""}) == "\"a,b\",\"say \"\"hi\"\"\",\n");
}

}  // namespace mha::test
