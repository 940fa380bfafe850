import CommandLineKit
import HapticFormats
import VendorFormats
import HapticModel
import Reading
import ShippedFiles
import SystemSupport

/// `temblor patterns`: the patterns that come with Temblor.
enum PatternsVerb {
  static let description = CommandDescription(
    "patterns", abstract: "List the shipped patterns, or print one.",
    arguments: [
      Argument(
        "NAME", help: "Print the AHAP text of this pattern.", completion: Completion(query: "patterns --names"),
        isOptional: true)
    ], options: [Option("--names", help: "Print only the names, one per line."), SharedOptions.json],
    examples: [
      .init("temblor patterns", "List the patterns."),
      .init("temblor patterns heartbeat > mine.ahap", "Start from a shipped pattern."),
    ]
  ) { arguments, terminal in
    if let name = arguments.value("NAME") {
      guard let text = ShippedPatterns.text(named: name) else {
        throw UsageError.unknown("pattern", name, among: ShippedPatterns.names)
      }
      try terminal.output.write(text.span)
      return .done
    }
    if arguments.flag("--names") {
      try terminal.output.write(ShippedPatterns.names.map { $0 + "\n" }.joined())
      return .done
    }
    let rows = try ShippedPatterns.names.map { name in
      let file = SourceFile(ShippedPatterns.text(named: name) ?? [], name: name)
      let composition = try FormatRegistry.standard.read(file)
      return (name, composition.duration, composition.notes ?? "")
    }
    if arguments.flag("--json") {
      try terminal.output.write(json: rows.map { ["name": $0, "duration": $1, "description": $2] })
      return .done
    }
    let widest = rows.map(\.0.count).max() ?? 0
    var text = ""
    for (name, duration, feeling) in rows {
      let length = NumberFormatting.seconds(duration)
      text += name + String(repeating: " ", count: widest + 2 - name.count)
      text += String(repeating: " ", count: max(0, 7 - length.count)) + length + "  "
      let room = terminal.output.isTerminal ? terminal.output.width - widest - 12 : feeling.count
      text += feeling.count > room ? feeling.prefix(max(0, room - 1)) + "…" : feeling
      text += "\n"
    }
    try terminal.output.write(text)
    return .done
  }
}
