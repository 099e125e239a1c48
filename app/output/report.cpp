// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "app/files/atomic_file.hpp"
#include "app/output/csv_table.hpp"
#include "app/output/markup.hpp"
#include "app/output/plot.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

constexpr const char* style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff; max-width: 1380px;
  margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; margin: 0; }
h2 { font-size: 19px; margin: 36px 0 10px; border-bottom: 1px solid #d5dbe1; }
h3 { font-size: 15px; margin: 18px 0 4px; }
p { margin: 4px 0; }
.done, .stopped, .failed, .diverged { display: inline-block; color: #fff; border-radius: 4px; padding: 1px 9px;
  font-size: 15px; vertical-align: middle; }
.done { background: #237a4b; } .stopped { background: #9a6700; } .failed, .diverged { background: #b3261e; }
.side { display: flex; flex-wrap: wrap; gap: 12px 32px; align-items: flex-start; }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding: 4px 0; }
th { font-weight: 400; text-align: left; color: #4c5a69; }
th, td { padding: 2px 18px 2px 0; border-bottom: 1px solid #e6eaee; }
td { text-align: right; font-variant-numeric: tabular-nums; }
td.words { text-align: left; }
pre { background: #f5f7f9; padding: 12px; overflow-x: auto; font-size: 13px; line-height: 1.4; }
figure { margin: 6px 0; } figcaption { color: #4c5a69; }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1d2733; }
svg .title { font-weight: 600; font-size: 13px; } svg .tick { fill: #4c5a69; }
svg .grid { stroke: #e3e8ec; fill: none; } svg .frame { stroke: #8896a4; fill: none; }
svg .curve { fill: none; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round; }
svg .axis { stroke: #4c5a69; fill: none; }
)";

std::string count_text(std::int64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string text;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) text += ',';
    text += digits[k];
  }
  return text;
}

std::string number_text(double value) {
  return std::isnan(value) ? "not a number" : fmt::format("{:.6g}", value);
}

std::string bytes_text(double bytes) {
  constexpr double mebi = 1024 * 1024, gibi = 1024 * mebi;
  return bytes < gibi ? fmt::format("{:.1f} MiB", bytes / mebi) : fmt::format("{:.2f} GiB", bytes / gibi);
}

/// "velocity [m/s]", of pure numbers the name alone.
std::string with_unit(const std::string& name, const std::string& unit) {
  return unit == "1" ? name : fmt::format("{} [{}]", name, unit);
}

std::string joined(std::span<const std::string> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A table read back, or why it cannot be.
struct ReadBack {
  CsvTable table;
  std::string failure;  // empty: none
};

ReadBack read_back(const std::filesystem::path& path) {
  try {
    return {read_csv(path), ""};
  } catch (const InputError& error) {
    return {{}, error.what()};
  }
}

/// Puts the page together piece by piece.
class Page {
 public:
  explicit Page(const Report& report) : report_(report), summary_(report.summary) {}

  std::string operator()() {
    const std::string title = escaped(summary_.case_name);
    add("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n<title>{} – Curlew</title>\n<style>{}</style>\n</head>\n<body>\n",
        title, style);
    add("<h1>{0} <span class=\"{1}\">{1}</span></h1>\n", title, name_of(summary_.status));
    paragraph(summary_.reason);
    paragraph(fmt::format("{}, backend {}, {} rank{} × {} thread{}, Curlew {}", summary_.model,
                          summary_.backend, summary_.ranks, summary_.ranks == 1 ? "" : "s", summary_.threads,
                          summary_.threads == 1 ? "" : "s", summary_.version));
    add("<div class=\"side\">\n");
    mesh();
    run();
    times();
    add("</div>\n");
    pictures();
    monitors();
    steps();
    case_file();
    add("</body>\n</html>\n");
    return std::move(page_);
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(page_), format, std::forward<Arguments>(arguments)...);
  }
  void heading(const std::string& words) { add("<h2>{}</h2>\n", escaped(words)); }
  void paragraph(const std::string& words) {
    if (!words.empty()) add("<p>{}</p>\n", escaped(words));
  }

  using Rows = std::vector<std::vector<std::string>>;
  /// What a row is of, and then its values.
  void table(const std::string& caption, const Rows& rows) {
    add("<table>\n<caption>{}</caption>\n", escaped(caption));
    for (const auto& row : rows) {
      add("<tr><th>{}</th>", escaped(row.front()));
      for (std::size_t k = 1; k < row.size(); ++k) add("<td>{}</td>", escaped(row[k]));
      add("</tr>\n");
    }
    add("</table>\n");
  }

  void mesh() {
    table("Mesh", {{"nodes", count_text(summary_.nodes)},
                   {"edges", count_text(summary_.edges)},
                   {"faces", count_text(summary_.faces)},
                   {"cells", count_text(summary_.cells)}});
  }

  void run() {
    Rows rows{{"steps", count_text(summary_.steps)}, {"time reached", number_text(summary_.time) + " s"}};
    for (const auto& [solve, iterations] : summary_.iterations)
      rows.push_back({fmt::format("mean iterations, {}", solve), fmt::format("{:.1f}", iterations)});
    if (summary_.max_divergence)
      rows.push_back({"largest divergence, relative", fmt::format("{:.2e}", *summary_.max_divergence)});
    const auto peak = static_cast<double>(summary_.peak_memory_bytes);
    const bool several = summary_.ranks > 1;
    rows.push_back({several ? "peak memory of the largest rank" : "peak memory", bytes_text(peak)});
    const double of_all = peak * summary_.ranks;
    rows.push_back(
        {several ? "bytes a cell, at most" : "bytes a cell",
         fmt::format("{:.0f}", of_all / static_cast<double>(std::max<std::int64_t>(summary_.cells, 1)))});
    table("Run", rows);
  }

  void times() {
    const RunTimes& times = report_.times;
    const double rest = times.total - times.set_up - times.stepping - times.output;
    Rows rows;
    const auto row = [&](const char* what, double seconds) {
      const double share = times.total > 0 ? seconds / times.total : 0;
      rows.push_back({what, fmt::format("{:.3g} s", seconds), fmt::format("{:.1f} %", 100 * share)});
    };
    row("set-up (mesh, operators, initial state)", times.set_up);
    row("stepping", times.stepping);
    row("output (fields, monitors, checkpoints)", times.output);
    row("everything else", std::max(rest, 0.));
    row("total", times.total);
    if (const double step = summary_.seconds_per_step; step > 0) {
      rows.push_back({"a step", fmt::format("{:.3g} s", step), ""});
      rows.push_back(
          {"cell-steps per second", fmt::format("{:.3g}", static_cast<double>(summary_.cells) / step), ""});
    }
    table("Wall time", rows);
  }

  void pictures() {
    heading("Fields at the end");
    if (report_.pictures.empty()) paragraph("There are no pictures.");
    add("<div class=\"side\">\n");
    for (const FieldPictures& field : report_.pictures) {
      const std::string name = field.field.name + (field.field.components > 1 ? ", magnitude" : "");
      add("<section>\n<h3>{}</h3>\n", escaped(with_unit(name, field.field.unit)));
      if (field.range) {
        colour_bar(*field.range);
      } else {
        paragraph("No value is a number.");
      }
      add("<div class=\"side\">\n");
      for (const FieldPicture& picture : field.pictures) {
        add("<figure>\n");
        image(picture);
        add("<figcaption>{}</figcaption>\n</figure>\n", escaped(picture.viewpoint.caption));
      }
      add("</div>\n</section>\n");
    }
    add("</div>\n");
    if (!report_.not_shown.empty()) paragraph("Not shown: " + joined(report_.not_shown) + ".");
  }

  /// With the directions of the axes below it.
  void image(const FieldPicture& picture) {
    const Viewpoint& view = picture.viewpoint;
    constexpr int axes_height = 76;
    add("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
        "<image width=\"{0}\" height=\"{2}\" href=\"data:image/png;base64,{3}\"/>\n",
        std::max(view.width, 90), view.height + axes_height, view.height, base64(picture.png));
    const double x0 = 28, y0 = view.height + axes_height - 22, length = 28;
    const std::pair<const char*, Vector3> axes[] = {{"x", {1, 0, 0}}, {"y", {0, 1, 0}}, {"z", {0, 0, 1}}};
    for (const auto& [name, direction] : axes) {
      const double x = dot(direction, view.right), y = -dot(direction, view.up);
      if (std::hypot(x, y) < 0.01) continue;  // towards the viewer
      add("<path class=\"axis\" d=\"M{} {}l{:.1f} {:.1f}\"/>\n", x0, y0, length * x, length * y);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x0 + (length + 9) * x,
          y0 + (length + 9) * y + 4, name);
    }
    add("</svg>\n");
  }

  void colour_bar(const ValueRange& range) {
    constexpr double bar_width = 420, bar_height = 14;
    const std::string gradient = fmt::format("colours{}", ++gradients_);
    add("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
        "<defs><linearGradient id=\"{2}\">\n",
        bar_width, bar_height + 20, gradient);
    const auto steps = colour_map();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      add("<stop offset=\"{:.4f}\" stop-color=\"#{:02x}{:02x}{:02x}\"/>\n",
          static_cast<double>(k) / static_cast<double>(steps.size() - 1), steps[k].red, steps[k].green,
          steps[k].blue);
    }
    add("</linearGradient></defs>\n<rect width=\"{}\" height=\"{}\" fill=\"url(#{})\"/>\n", bar_width,
        bar_height, gradient);
    const auto label = [&](double fraction, const char* anchor, const std::string& words) {
      add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", fraction * bar_width, bar_height + 14,
          anchor, escaped(words));
    };
    label(0, "start", "min " + number_text(range.low));
    label(1, "end", "max " + number_text(range.high));
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    if (range.high / 2 - range.low / 2 > 1e-9 * size && size < 1e300) {
      for (const double tick : round_ticks(range.low, range.high, 5)) {
        const double fraction = range.fraction(tick);  // beside the two at the ends
        if (fraction > 0.3 && fraction < 0.7) label(fraction, "middle", fmt::format("{:.9g}", tick));
      }
    }
    add("</svg>\n");
  }

  void monitors() {
    if (report_.monitors.empty()) return;
    heading("Monitors");
    std::vector<ReadBack> files;
    for (const MonitorFile& monitor : report_.monitors) files.push_back(read_back(monitor.path));
    add("<div class=\"side\">\n");
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (!report_.monitors[k].is_line)
        last_values(fmt::format("Last values of {}", report_.monitors[k].name), files[k].table);
    }
    add("</div>\n");
    for (std::size_t k = 0; k < files.size(); ++k) {
      const CsvTable& table = files[k].table;
      const bool is_line = report_.monitors[k].is_line;
      if (files[k].failure.empty() && !is_line && table.rows() < 2) continue;  // which the values above are
      const std::string at_time = table.time ? fmt::format(" at {:.6g} s", *table.time) : "";
      add("<h3>{}</h3>\n", escaped(report_.monitors[k].name + at_time));
      paragraph(files[k].failure);
      const std::vector<double> length = is_line ? arc_length(table) : std::vector<double>();
      add("<div class=\"side\">\n");
      if (is_line) {
        plots_by_unit({table, length, "distance from the start [m]"}, columns_but(table, {"x", "y", "z"}));
      } else {
        plots_by_unit(in_time(table), columns_but(table, {"time"}));
      }
      add("</div>\n");
    }
  }

  void steps() {
    if (!report_.residuals) return;
    heading("Steps");
    const auto [table, failure] = read_back(*report_.residuals);
    paragraph(failure);
    if (table.rows() < 2) return last_values("The one step", table);
    Columns iterations, convergence, others;
    for (const std::size_t column : columns_but(table, {"time", "step"})) {
      const std::string& name = table.columns[column].name;
      const bool converges = name.ends_with("_residual") || name.starts_with("divergence");
      (name.ends_with("_iterations") ? iterations : converges ? convergence : others).push_back(column);
    }
    add("<div class=\"side\">\n");
    plot(in_time(table), iterations, "Iterations per solve", false);
    plot(in_time(table), convergence, "Residuals and divergence, relative", true);
    plots_by_unit(in_time(table), others);
    add("</div>\n");
  }

  void case_file() {
    if (!report_.overrides.empty()) {
      heading("Set on the command line");
      add("<pre>{}</pre>\n", escaped(fmt::format("{}", fmt::join(report_.overrides, "\n"))));
    }
    heading("Case file");
    add("<pre>{}</pre>\n", escaped(report_.case_file));
  }

  /// The last row of a table, if there is one.
  void last_values(const std::string& caption, const CsvTable& values) {
    if (values.rows() == 0) return;
    Rows rows;
    for (std::size_t k = 0; k < values.columns.size(); ++k) {
      const auto& [name, unit] = values.columns[k];
      rows.push_back({name, number_text(values.values[k].back()), unit == "1" ? "" : unit});
    }
    table(caption, rows);
  }

  using Columns = std::vector<std::size_t>;
  /// Columns of a table over what they are plotted against.
  struct Series {
    const CsvTable& table;
    std::span<const double> x;
    std::string x_label;
  };

  static Series in_time(const CsvTable& table) {
    const auto time = std::ranges::find(table.columns, "time", &CsvColumn::name);
    if (time == table.columns.end()) return {table, {}, "time [s]"};
    return {table, table.values[static_cast<std::size_t>(time - table.columns.begin())], "time [s]"};
  }

  static Columns columns_but(const CsvTable& table, const std::vector<std::string>& left_out) {
    Columns columns;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      if (std::ranges::find(left_out, table.columns[k].name) == left_out.end()) columns.push_back(k);
    }
    return columns;
  }

  /// From the first of the points x, y, z of a line's table [m].
  static std::vector<double> arc_length(const CsvTable& table) {
    std::vector<double> lengths;
    const auto& x = table.values;
    for (std::size_t row = 0; x.size() >= 3 && row < table.rows(); ++row)
      lengths.push_back(std::hypot(x[0][row] - x[0][0], x[1][row] - x[1][0], x[2][row] - x[2][0]));
    return lengths;
  }

  /// One plot for each unit.
  void plots_by_unit(const Series& series, Columns columns) {
    const auto unit = [&](std::size_t column) { return series.table.columns[column].unit; };
    while (!columns.empty()) {
      const auto others = std::stable_partition(columns.begin(), columns.end(),
                                                [&](std::size_t k) { return unit(k) == unit(columns[0]); });
      plot(series, {columns.begin(), others}, "", false);
      columns.erase(columns.begin(), others);
    }
  }

  /// A plot of columns that share a unit; the title of one without a title is the name of its only column.
  void plot(const Series& series, const Columns& columns, const std::string& title, bool logarithmic) {
    if (columns.empty()) return;
    const CsvColumn& first = series.table.columns[columns[0]];
    const bool alone = columns.size() == 1;
    Plot plot{title.empty() && alone ? first.name : title,
              series.x_label,
              first.unit == "1" ? "" : fmt::format("[{}]", first.unit),
              logarithmic,
              {}};
    std::vector<std::string> left_out;
    for (const std::size_t column : columns) {
      const std::string& name = series.table.columns[column].name;
      if (plot.curves.size() < Plot::most_curves) {
        plot.curves.push_back({name, series.x, series.table.values[column]});
      } else {
        left_out.push_back(name);
      }
    }
    add("<figure>\n{}", svg(plot));
    if (!left_out.empty()) add("<figcaption>Left out: {}.</figcaption>\n", escaped(joined(left_out)));
    add("</figure>\n");
  }

  const Report& report_;
  const Summary& summary_;
  std::string page_;
  int gradients_ = 0;
};

}  // namespace

void write_report(const std::filesystem::path& path, const Report& report) {
  write_file_atomically(path, Page(report)());
}

}  // namespace curlew
