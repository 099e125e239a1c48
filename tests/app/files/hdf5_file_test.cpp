// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/hdf5_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/error.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Adds a dataset of integers that is not in the file, whatever it says of its shape.
void claim(const std::filesystem::path& path, const std::string& name, const std::vector<hsize_t>& shape) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  H5Dclose(H5Dcreate2(file, name.c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
}

TEST(Hdf5Reader, a_dataset_that_claims_more_than_the_file_has_is_named) {
  const OutputDirectory directory;
  const auto path = directory / "forged.h5";
  {
    Hdf5Writer file(path);
    const std::vector<std::int64_t> values(1000, 7);
    file.write<std::int64_t>("/values", values);
    file.commit();
  }
  constexpr hsize_t many = hsize_t{1} << 40;
  claim(path, "/list", {many});
  claim(path, "/rows", {many, 3});
  claim(path, "/columns", {3, many});
  claim(path, "/overflow", {many, many});
  claim(path, "/nothing", {0, 3});
  const Hdf5Reader file(path);
  EXPECT_EQ(file.read<std::int64_t>("/values").size(), 1000u);
  EXPECT_TRUE(file.read<std::int64_t>("/nothing").empty());
  for (const char* name : {"/list", "/rows", "/columns", "/overflow"}) {
    const auto is_named = AllOf(HasSubstr(path.string()), HasSubstr(name), HasSubstr("the file is damaged"));
    EXPECT_THAT(message_of<InputError>([&] { file.read<std::int64_t>(name); }), is_named);
    EXPECT_THAT(message_of<InputError>([&] { file.read_rows<std::int64_t>(name, 0, 2); }), is_named);
  }
}

TEST(Hdf5Reader, a_packed_dataset_may_be_larger_than_its_file) {
  const OutputDirectory directory;
  const auto path = directory / "packed.h5";
  const std::vector<std::int64_t> values(100000, 7);
  const hsize_t size = values.size();
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Screate_simple(1, &size, nullptr), packed = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(packed, 1, &size);
    H5Pset_deflate(packed, 6);
    const hid_t dataset =
        H5Dcreate2(file, "/values", H5T_NATIVE_INT64, space, H5P_DEFAULT, packed, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Pclose(packed);
    H5Sclose(space);
    H5Fclose(file);
  }
  ASSERT_LT(std::filesystem::file_size(path), size);
  EXPECT_EQ(Hdf5Reader(path).read<std::int64_t>("/values"), values);
}

TEST(Hdf5Reader, rows_that_are_not_there_are_refused) {
  const OutputDirectory directory;
  const auto path = directory / "rows.h5";
  {
    Hdf5Writer file(path);
    const std::vector<std::int64_t> values(10, 7);
    file.write<std::int64_t>("/values", values);
    file.commit();
  }
  const Hdf5Reader file(path);
  EXPECT_EQ(file.read_rows<std::int64_t>("/values", 4, 6).size(), 6u);
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const auto read = [&](std::int64_t first, std::int64_t count) {
    file.read_rows<std::int64_t>("/values", first, count);
  };
  EXPECT_THROW(read(4, 7), InputError);
  EXPECT_THROW(read(-1, 2), InputError);
  EXPECT_THROW(read(2, -1), InputError);
  EXPECT_THROW(read(last, 1), InputError);
  EXPECT_THROW(read(1, last), InputError);
}

}  // namespace
}  // namespace curlew::test
