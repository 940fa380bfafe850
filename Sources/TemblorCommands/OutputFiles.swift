import CommandLineKit
internal import HapticFormats
import HapticRender
import PatternWorkflows
import SignalPlots
import SoundFile
import SystemSupport
internal import VendorFormats

/// Where each rendering goes.
struct RenderOutputs: Sendable {
  static let container = Option(
    "--container", value: "KIND", help: "File format if the output name does not set one.", defaultText: "wav"
  ).choice(of: SoundFileFormat.Container.self)

  private(set) var items: [RenderBatch.Item] = []

  init(_ arguments: ParsedArguments, inputs: [PatternInput], problemCount: Int) throws {
    let asked = try arguments[Self.container]
    let stems: [RenderSettings.Buses] = arguments.flag("--stems") ? [.haptics, .audio] : [.all]
    let output = arguments.value("--output")
    if output == OutputNames.standardOutput {
      guard inputs.count + problemCount == 1, stems == [.all], !arguments.flag("--json") else {
        throw UsageError(.remove, "'--output -' requires a single pattern, without '--stems' or '--json'")
      }
      items = inputs.map {
        RenderBatch.Item(
          input: $0, destination: .stream(name: "standard output") { try Output.standardOutput.write($0) },
          container: asked ?? .wav)
      }
      return
    }
    let named = output.flatMap(SoundFileFormat.container(ofName:))
    let isFolder =
      inputs.count + problemCount > 1 || output.map { $0.hasSuffix("/") || FileSystem.entry(at: $0) == .folder } ?? true
      || named == nil && inputs.contains(where: \.isFromFolder)
    if isFolder, let output { try OutputNames.checkFolder(output, count: inputs.count + problemCount, "patterns") }
    for input in inputs {
      for buses in stems {
        if isFolder {
          let container = asked ?? .wav
          let name = input.outputStem + Self.suffix(of: buses) + "." + container.rawValue
          items.append(
            .init(
              input: input, destination: .file(path: FileSystem.join(output ?? "", name)), container: container,
              buses: buses))
        } else if let output {
          items.append(
            .init(
              input: input, destination: .file(path: Self.path(output, of: buses)),
              container: try OutputNames.kind(
                of: output, named: named, asked: asked, option: "--container",
                extensions: ".wav, .flac, .aiff, .w64, .rf64, .caf or .ogg"), buses: buses))
        }
      }
    }
    try OutputNames.refuseClashes(items.map { ($0.input.name, $0.name) })
  }

  private static func suffix(of buses: RenderSettings.Buses) -> String {
    switch buses {
    case .all: ""
    case .haptics: ".haptic"
    case .audio: ".audio"
    }
  }

  private static func path(_ output: String, of buses: RenderSettings.Buses) -> String {
    let suffix = suffix(of: buses)
    guard !suffix.isEmpty else { return output }
    let ending = output.lastIndex(of: ".").map { String(output[$0...]) } ?? ""
    return FileSystem.join(FileSystem.folder(of: output), FileSystem.stem(of: output) + suffix + ending)
  }

  /// Not every kind of file holds every sound, and sound is not for terminals.
  func check(_ job: RenderJob, on terminal: Terminal) throws(UsageError) {
    for container in Set(items.map(\.container)) {
      let format = SoundFileFormat(container: container, samples: job.format)
      if let reason = format.unsupportedReason(rate: job.rate, channelCount: job.channelCount) {
        throw UsageError(.invalidValue, reason)
      }
    }
    if case .stream? = items.first?.destination { try SharedOptions.checkStandardOutput(terminal) }
  }
}

/// The rules that files which verbs write have in common.
enum OutputNames {
  /// The path that stands for standard output.
  static let standardOutput = "-"
  static let pageEndings = ["html", "htm"]

  /// Refuses a name for several files that is plainly meant for one.
  static func checkFolder(_ path: String, count: Int, _ noun: String) throws(UsageError) {
    guard count > 1, !path.hasSuffix("/"), FileSystem.entry(at: path) != .folder else { return }
    let isFile =
      SoundFileFormat.container(ofName: path) != nil || PlotFormat(ofName: path) != nil
      || FormatRegistry.standard.format(named: path) != nil
      || (pageEndings + ["json"]).contains { path.lowercased().hasSuffix("." + $0) }
    guard isFile || FileSystem.entry(at: path) != .nothing else { return }
    throw UsageError(
      .invalidValue, "\(path.inQuotes) is the name of one file, but there are \(count) \(noun); name a folder")
  }

  static func checkInputs(_ path: String, option: String = "--output", of takes: [TakeInput]) throws(UsageError) {
    // A file that does not exist is nobody's input, and reading patterns for it would be in vain.
    guard FileSystem.entry(at: path) != .nothing else { return }
    try OutputGuard(reading: takes.flatMap(\.sources)).check(path, option: option)
  }

  static func kind<Kind: RawRepresentable<String> & Equatable>(
    of path: String, named: Kind?, asked: Kind?, option: String, extensions: String
  ) throws(UsageError) -> Kind {
    if let asked, let named, asked != named {
      throw UsageError(
        .remove,
        "the extension of \(path.inQuotes) selects \(named.rawValue), but \(option.inQuotes) is " + asked.rawValue)
    }
    guard let kind = asked ?? named else {
      throw UsageError(
        .invalidValue, "unknown file extension of \(path.inQuotes); use \(extensions), or \(option.inQuotes)")
    }
    return kind
  }

  static func refuseClashes(_ files: [(input: String, path: String)]) throws(UsageError) {
    var owners: [String: String] = [:]
    for (input, path) in files {
      if let other = owners.updateValue(input, forKey: path) {
        throw UsageError(
          .invalidValue, "\(other.inQuotes) and \(input.inQuotes) would both be written to \(path.inQuotes)")
      }
    }
  }
}

/// Where each picture goes, and in what format.
struct PlotOutputs: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var inputs: [TakeInput]
    var path: String
    var format: PlotFormat
  }

  private(set) var items: [Item] = []

  init(_ output: String, format asked: PlotFormat?, groups: [[TakeInput]], missing: Int) throws(UsageError) {
    let count = groups.count + missing
    if output == OutputNames.standardOutput {
      guard count == 1 else { throw UsageError(.remove, "'--output -' requires a single picture") }
      items = groups.map { Item(inputs: $0, path: output, format: asked ?? .png) }
      return
    }
    let isFolder = count > 1 || output.hasSuffix("/") || FileSystem.entry(at: output) == .folder
    if isFolder { try OutputNames.checkFolder(output, count: count, "pictures") }
    for inputs in groups {
      if isFolder {
        let format = asked ?? .png
        let stem = inputs.map(\.outputStem).joined(separator: "-")
        items.append(Item(inputs: inputs, path: FileSystem.join(output, stem + "." + format.rawValue), format: format))
      } else {
        items.append(
          Item(
            inputs: inputs, path: output,
            format: try OutputNames.kind(
              of: output, named: PlotFormat(ofName: output), asked: asked, option: "--format",
              extensions: ".png, .svg or .pdf")))
      }
    }
    try refuseClashes()
  }

  /// Two pictures of one name would overwrite one another, and one must not replace what it shows.
  private func refuseClashes() throws(UsageError) {
    try OutputNames.refuseClashes(items.compactMap { item in item.inputs.first.map { ($0.name, item.path) } })
    for item in items { try OutputNames.checkInputs(item.path, of: items.flatMap(\.inputs)) }
  }
}
