// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/image.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <random>

#include "app/output/markup.hpp"
#include "kernels/error.hpp"
#include "tests/app/output/nan.hpp"

namespace curlew::test {
namespace {

using Triangle = std::array<Corner, 3>;

TEST(ValueImage, has_linear_values_where_pixels_have_their_middles) {
  const auto value = [](Real x, Real y) { return 3 + 2 * x - 0.7 * y; };
  const auto corner = [&](Real x, Real y) { return Corner{x, y, 0, value(x, y)}; };
  ValueImage image(9, 6);
  image.draw({corner(0, 0), corner(8, 0), corner(0, 5)});
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 9; ++column) {
      const Real x = column + 0.5, y = row + 0.5;
      const bool inside = x / 8 + y / 5 <= 1;
      EXPECT_EQ(image.covered(column, row), inside) << column << " " << row;
      if (inside) {
        EXPECT_NEAR(image.value(column, row), value(x, y), 1e-13);
        EXPECT_EQ(image.light(column, row), 1);
      } else {
        EXPECT_TRUE(std::isnan(image.value(column, row)));
      }
    }
  }
}

TEST(ValueImage, triangles_that_share_sides_leave_no_gap_and_equal_corners_give_that_very_value) {
  // A fan about points that are no multiples of anything, all the way round.
  std::mt19937 generator(3);
  std::uniform_real_distribution<Real> place(5, 35);
  for (int attempt = 0; attempt < 50; ++attempt) {
    ValueImage image(40, 40);
    const Corner middle{place(generator), place(generator), 0, 0.1};
    const std::array<Corner, 5> ring{
        {{0, 0, 0, 0.1}, {40, 0, 0, 0.1}, {40, 40, 0, 0.1}, {17.5, 40, 0, 0.1}, {0, 40, 0, 0.1}}};
    for (std::size_t k = 0; k < 5; ++k) image.draw({middle, ring[k], ring[(k + 1) % 5]});
    for (int row = 0; row < 40; ++row) {
      for (int column = 0; column < 40; ++column) EXPECT_EQ(image.value(column, row), 0.1);
    }
  }
}

TEST(ValueImage, shows_what_is_nearest_in_any_order_and_with_any_turn) {
  const Triangle far{{{0, 0, 1, 10}, {8, 0, 1, 10}, {0, 8, 1, 10}}},
      near{{{0, 0, 2, -5}, {4, 0, 2, -5}, {0, 4, 2, -5}}},
      as_near{{{0, 0, 2, -7}, {0, 4, 2, -7}, {4, 0, 2, -7}}},
      without_value{{{0, 0, 2, nan}, {0, 4, 2, 8}, {4, 0, 2, 8}}};
  std::vector<std::pair<Triangle, Real>> triangles{
      {far, 1}, {near, 0.5}, {as_near, 0.7}, {without_value, 0.9}};
  for (int order = 0; order < 4; ++order) {
    std::rotate(triangles.begin(), triangles.begin() + 1, triangles.end());
    ValueImage image(8, 8);
    for (const auto& [triangle, light] : triangles) image.draw(triangle, light);
    EXPECT_EQ(image.value(1, 1), -5);
    EXPECT_EQ(image.light(1, 1), 0.5);
    EXPECT_EQ(image.value(5, 1), 10);
    EXPECT_FALSE(image.covered(7, 7));
  }
}

TEST(ValueImage, goes_on_beyond_its_border_and_without_values_or_area) {
  ValueImage image(4, 3);
  image.draw({{{-1e6, -1e6, 0, 1}, {1e6, -1e6, 0, 1}, {0, 1e6, 0, 1}}});
  EXPECT_NEAR(image.value(0, 2), 1, 1e-12);
  image.draw({{{0, 0, 1, 1}, {2, 2, 1, 1}, {4, 4, 1, 1}}});
  image.draw({{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}});
  EXPECT_NEAR(image.value(1, 1), 1, 1e-12);
  image.draw({{{0, 0, 5, nan}, {8, 0, 5, 2}, {0, 8, 5, 2}}});
  EXPECT_TRUE(image.covered(0, 0));
  EXPECT_TRUE(std::isnan(image.value(0, 0)));
  const auto pixels = coloured(image, {0, 1});
  EXPECT_EQ(pixels[0].red, pixels[0].green);  // grey
  EXPECT_EQ(pixels[0].red, pixels[0].blue);
  EXPECT_THROW(ValueImage(0, 3), Error);
}

TEST(Colours, go_from_the_first_of_the_map_to_the_last_and_are_lit) {
  ValueImage image(3, 1);
  const auto pixel = [&](Real column, Real value, Real light) {
    image.draw({{{column, 0, 0, value}, {column + 1, 0, 0, value}, {column + 0.5, 1, 0, value}}}, light);
  };
  pixel(0, 2, 1);
  pixel(1, 6, 1);
  pixel(2, 6, 0.5);
  const auto pixels = coloured(image, {2, 6});
  EXPECT_EQ(pixels[0], colour_map().front());
  EXPECT_EQ(pixels[1], colour_map().back());
  EXPECT_EQ(pixels[2].red, std::lround(0.5 * colour_map().back().red));
  EXPECT_EQ(coloured(ValueImage(1, 1), {})[0], (Colour{255, 255, 255}));
  // It becomes lighter all the way.
  const auto lightness = [](Colour c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; };
  for (std::size_t k = 1; k < colour_map().size(); ++k)
    EXPECT_GT(lightness(colour_map()[k]), lightness(colour_map()[k - 1]));
}

TEST(ValueRange, is_divided_evenly_and_has_round_off_in_the_middle) {
  EXPECT_DOUBLE_EQ((ValueRange{-2, 6}.fraction(0)), 0.25);
  EXPECT_EQ((ValueRange{-2, 6}.fraction(7)), 1);
  EXPECT_EQ((ValueRange{300, 300 + 1e-13}.fraction(300)), 0.5);
  EXPECT_EQ((ValueRange{0, 0}.fraction(0)), 0.5);
  EXPECT_DOUBLE_EQ((ValueRange{-1.7e308, 1.7e308}.fraction(0)), 0.5);
}

std::uint32_t number_at(const std::string& bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < 4; ++k) number = number << 8 | static_cast<unsigned char>(bytes.at(place + k));
  return number;
}

TEST(Png, decodes_to_the_pixels) {
  constexpr int width = 7, height = 5;
  std::vector<Colour> pixels;
  for (int k = 0; k < width * height; ++k) {
    const auto part = [&](int factor) { return static_cast<std::uint8_t>(factor * k); };
    pixels.push_back({part(7), part(31), part(101)});
  }
  const std::string file = png(width, height, pixels);
  ASSERT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string types, data;
  for (std::size_t place = 8; place < file.size();) {
    const std::size_t size = number_at(file, place);
    const std::string checked = file.substr(place + 4, size + 4);
    EXPECT_EQ(number_at(file, place + 8 + size),
              crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    types += checked.substr(0, 4) + " ";
    if (checked.starts_with("IHDR")) {
      EXPECT_EQ(number_at(checked, 4), width);
      EXPECT_EQ(number_at(checked, 8), height);
      EXPECT_EQ(checked.substr(12), std::string("\x08\x02\x00\x00\x00", 5));
    }
    if (checked.starts_with("IDAT")) data = checked.substr(4);
    place += size + 12;
  }
  EXPECT_EQ(types, "IHDR IDAT IEND ");
  std::string rows(1000, '\0');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size())),
            Z_OK);
  ASSERT_EQ(size, static_cast<std::size_t>(height * (1 + 3 * width)));
  std::size_t place = 0;
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    if (k % width == 0) {
      EXPECT_EQ(rows[place++], 0);
    }
    for (const auto part : {pixels[k].red, pixels[k].green, pixels[k].blue})
      EXPECT_EQ(static_cast<std::uint8_t>(rows[place++]), part);
  }
  EXPECT_THROW(png(3, 3, pixels), Error);
}

TEST(Markup, is_that_of_the_standards) {
  EXPECT_EQ(escaped("a<b & \"c\">\x01\n\t\xc3\xa9"), "a&lt;b &amp; &quot;c&quot;&gt;\n\t\xc3\xa9");
  EXPECT_EQ(escaped("\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf"), "\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf");
  // RFC 3629, 3 and 4: none of UTF-8, cut off, longer than need be, a surrogate, beyond Unicode; XML 2.2: the
  // two that are no characters.
  const std::string none = "\xef\xbf\xbd";
  for (const char* bytes : {"\xe9", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xbf\xbf"}) {
    std::string expected = "(";
    for (std::size_t k = 0; k < std::string(bytes).size(); ++k) expected += none;
    EXPECT_EQ(escaped("(" + std::string(bytes) + ")"), expected + ")") << expected.size();
  }
  EXPECT_EQ(escaped("\xef\xbf\xbe").substr(0, 3), none);
  EXPECT_EQ(escaped("\xef\xbf\xbf").substr(0, 3), none);
  // RFC 4648, 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace curlew::test
