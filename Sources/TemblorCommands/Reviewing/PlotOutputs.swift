import CommandLineKit
import PatternWorkflows
import SignalPlots
import SystemSupport

/// Where each picture goes, and in what format.
struct PlotOutputs: Equatable, Sendable {
  /// One picture.
  struct Item: Equatable, Sendable {
    /// What it shows: one input, or two that are laid over one another.
    var inputs: [TakeInput]
    var path: String
    var format: PlotFormat
  }

  /// The path that stands for standard output.
  static let standardOutput = "-"

  private(set) var items: [Item] = []

  /// Works out the files from the command line.
  ///
  /// - Parameters:
  ///   - output: What `--output` names.
  ///   - groups: What each picture shows.
  ///   - missing: How many more were asked for and could not be found.
  init(
    _ output: String, format asked: PlotFormat?, groups: [[TakeInput]], missing: Int
  ) throws(UsageError) {
    let count = groups.count + missing
    if output == Self.standardOutput {
      guard count == 1 else {
        throw UsageError(.remove, "'--output -' requires a single picture")
      }
      items = groups.map { Item(inputs: $0, path: output, format: asked ?? .png) }
      return
    }
    let isFolder = count > 1 || output.hasSuffix("/") || FileSystem.entry(at: output) == .folder
    for inputs in groups {
      if isFolder {
        let format = asked ?? .png
        let stem = inputs.map(\.outputStem).joined(separator: "-")
        items.append(
          Item(
            inputs: inputs, path: FileSystem.join(output, stem + "." + format.rawValue),
            format: format))
      } else {
        items.append(
          Item(inputs: inputs, path: output, format: try Self.format(of: output, asked: asked)))
      }
    }
    try refuseClashes()
  }

  /// What the name's ending and `--format` say together.
  private static func format(of path: String, asked: PlotFormat?) throws(UsageError) -> PlotFormat {
    let named = PlotFormat(ofName: path)
    if let asked, let named, asked != named {
      throw UsageError(
        .remove,
        "the extension of \(path.inQuotes) selects \(named.rawValue), but '--format' is \(asked.rawValue)"
      )
    }
    guard let format = asked ?? named else {
      throw UsageError(
        .invalidValue,
        "unknown file extension of \(path.inQuotes); use .png, .svg or .pdf, or '--format'")
    }
    return format
  }

  /// Two pictures of one name would overwrite one another, and one must not replace what it shows.
  private func refuseClashes() throws(UsageError) {
    var owners: [String: TakeInput] = [:]
    for item in items {
      guard let input = item.inputs.first else { continue }
      if let other = owners[item.path] {
        throw UsageError(
          .invalidValue,
          "\(other.name.inQuotes) and \(input.name.inQuotes) would both be written to "
            + item.path.inQuotes)
      }
      owners[item.path] = input
      if item.inputs.contains(where: { $0.path.map { FileSystem.isSame($0, item.path) } ?? false })
      {
        throw UsageError(
          .invalidValue, "\(item.path.inQuotes) is an input; choose another '--output'")
      }
    }
  }
}
