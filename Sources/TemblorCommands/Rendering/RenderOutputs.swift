import CommandLineKit
import HapticRender
import PatternWorkflows
import SoundFile
import SystemSupport

/// Where each rendering goes.
struct RenderOutputs: Sendable {
  /// The path that stands for standard output.
  static let standardOutput = "-"

  private(set) var items: [RenderBatch.Item] = []

  /// Works out the files from the command line.
  ///
  /// - Parameter problemCount: How many more patterns were asked for and could not be found.
  init(_ arguments: ParsedArguments, inputs: [PatternInput], problemCount: Int) throws {
    let asked = try arguments.choice("--container", as: SoundFileFormat.Container.self)
    let stems: [RenderSettings.Buses] =
      arguments.flag("--stems") ? [.haptics, .audio] : [.all]
    let output = arguments.value("--output")
    if output == Self.standardOutput {
      guard inputs.count + problemCount == 1, stems == [.all], !arguments.flag("--json") else {
        throw UsageError(
          .remove, "'--output -' requires a single pattern, without '--stems' or '--json'")
      }
      items = inputs.map {
        RenderBatch.Item(
          input: $0,
          destination: .stream(name: "standard output") { try Output.standardOutput.write($0) },
          container: asked ?? .wav)
      }
      return
    }
    let named = output.flatMap(SoundFileFormat.container(ofName:))
    let isFolder =
      inputs.count + problemCount > 1
      || output.map { $0.hasSuffix("/") || FileSystem.entry(at: $0) == .folder } ?? true
      || named == nil && inputs.contains(where: \.isFromFolder)
    for input in inputs {
      for buses in stems {
        if isFolder {
          let container = asked ?? .wav
          let name = input.outputStem + Self.suffix(of: buses) + "." + container.rawValue
          items.append(
            .init(
              input: input, destination: .file(path: FileSystem.join(output ?? "", name)),
              container: container, buses: buses))
        } else if let output {
          items.append(
            .init(
              input: input, destination: .file(path: Self.path(output, of: buses)),
              container: try Self.container(of: output, named: named, asked: asked), buses: buses))
        }
      }
    }
    try refuseClashes()
  }

  /// One wav file for each pattern, in the current folder.
  init(_ inputs: [PatternInput]) throws {
    items = inputs.map { input in
      RenderBatch.Item(
        input: input,
        destination: .file(
          path: input.outputStem + "." + SoundFileFormat.Container.wav.rawValue))
    }
    try refuseClashes()
  }

  /// What the name of a stem has before its ending.
  private static func suffix(of buses: RenderSettings.Buses) -> String {
    switch buses {
    case .all: ""
    case .haptics: ".haptic"
    case .audio: ".audio"
    }
  }

  /// The file that was named, or that name with a stem's suffix.
  private static func path(_ output: String, of buses: RenderSettings.Buses) -> String {
    let suffix = suffix(of: buses)
    guard !suffix.isEmpty else { return output }
    let ending = output.lastIndex(of: ".").map { String(output[$0...]) } ?? ""
    return FileSystem.join(
      FileSystem.folder(of: output), FileSystem.stem(of: output) + suffix + ending)
  }

  /// The kind of file that a name and `--container` agree on.
  private static func container(
    of output: String, named: SoundFileFormat.Container?, asked: SoundFileFormat.Container?
  ) throws(UsageError) -> SoundFileFormat.Container {
    if let asked, let named, asked != named {
      throw UsageError(
        .remove,
        "the extension of \(output.inQuotes) selects \(named.rawValue), but '--container' is "
          + asked.rawValue)
    }
    guard let container = asked ?? named else {
      throw UsageError(
        .invalidValue,
        "unknown file extension of \(output.inQuotes); use .wav, .flac, .aiff, .w64, .rf64, .caf or .ogg, or '--container'"
      )
    }
    return container
  }

  /// Two patterns of one name would overwrite one another.
  private func refuseClashes() throws {
    var owners: [String: String] = [:]
    for item in items {
      if let other = owners[item.name] {
        throw UsageError(
          .invalidValue,
          "\(other.inQuotes) and \(item.input.name.inQuotes) would both be written to \(item.name.inQuotes)"
        )
      }
      owners[item.name] = item.input.name
    }
  }

  /// Why the outputs cannot be: not every kind of file holds every sound, and sound is not for terminals.
  func refusal(of job: RenderJob, on terminal: Terminal) -> UsageError? {
    for container in Set(items.map(\.container)) {
      let format = SoundFileFormat(container: container, samples: job.format)
      if let unsupportedReason = format.unsupportedReason(
        rate: job.rate, channelCount: job.channelCount)
      {
        return UsageError(.invalidValue, unsupportedReason)
      }
    }
    guard case .stream? = items.first?.destination, terminal.output.isTerminal else { return nil }
    return UsageError(
      .invalidValue, "standard output is a terminal; use '--output FILE' or a pipe")
  }
}
