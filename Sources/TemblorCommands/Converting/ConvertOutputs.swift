import CommandLineKit
import HapticFormats
import PatternWorkflows
import SystemSupport

/// Where each converted pattern goes, and in what format.
struct ConvertOutputs {
  let format: any HapticFormat
  /// The path of each input's output; those of further files have suffixes.
  private(set) var items: [(input: PatternInput, path: String)] = []
  let inputs: OutputGuard

  init(_ arguments: ParsedArguments, inputs: [PatternInput], problemCount: Int, formats: FormatRegistry) throws {
    let output = arguments.value("--output")
    let count = inputs.count + problemCount
    let isFolder =
      output != OutputNames.standardOutput
      && (count > 1 || inputs.contains(where: \.isFromFolder)
        || output.map { $0.hasSuffix("/") || FileSystem.entry(at: $0) == .folder } ?? true)
    if let id = arguments.value("--to"), let named = formats.format(id: id) {
      format = named
    } else {
      format = try Self.format(ofName: isFolder ? nil : output, formats)
    }
    if output == OutputNames.standardOutput, count != 1 || arguments.flag("--json") {
      throw UsageError(.remove, "'--output -' requires a single pattern, without '--json'")
    }
    for input in inputs {
      let ending = format.endings.first ?? format.id
      let path = isFolder ? FileSystem.join(output ?? "", input.outputStem + "." + ending) : output ?? input.name
      items.append((input, path))
    }
    try OutputNames.refuseClashes(items.map { ($0.input.name, $0.path) })
    if let output, isFolder, output != OutputNames.standardOutput {
      try OutputNames.checkFolder(output, count: count, "patterns")
    }
    self.inputs = OutputGuard(reading: inputs.flatMap(\.sources))
    for (_, path) in items where path != OutputNames.standardOutput {
      guard !self.inputs.isInput(path) else {
        throw UsageError(.invalidValue, "\(path.inQuotes) is an input; choose another '--output'")
      }
    }
  }

  /// The format that the ending of an output stands for, where it is one that can be written.
  private static func format(ofName output: String?, _ formats: FormatRegistry) throws(UsageError) -> any HapticFormat {
    guard let output, output != OutputNames.standardOutput else {
      throw UsageError(.missingValue, "'--to' is required where no output file is named")
    }
    let named = formats.formats(named: output)
    let candidates = named.filter(\.isWritable)
    guard let first = candidates.first else {
      throw UsageError(
        .invalidValue,
        named.first.map { "the format \($0.id) cannot be written; choose another with '--to'" }
          ?? "unknown file extension of \(output.inQuotes); set the format with '--to'")
    }
    guard candidates.count == 1 else {
      throw UsageError(
        .missingValue,
        "the extension of \(output.inQuotes) stands for \(candidates.map(\.id).joinedWithOr); " + "choose with '--to'")
    }
    return first
  }
}
