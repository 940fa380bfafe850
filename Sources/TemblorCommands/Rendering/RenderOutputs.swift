import HapticRender
import SoundFile

/// Where each rendering goes.
struct RenderOutputs: Sendable {
  /// One file to write.
  struct Item: Sendable {
    var input: PatternInput
    var path: String
    var container: SoundFileFormat.Container
    var buses: RenderSettings.Buses
  }

  /// The path that stands for standard output.
  static let standardOutput = "-"

  private(set) var items: [Item] = []

  /// Works out the files from the command line.
  init(_ arguments: ParsedArguments, inputs: [PatternInput]) throws {
    let asked = try arguments.choice("--container", as: SoundFileFormat.Container.self)
    let stems: [RenderSettings.Buses] =
      arguments.flag("--stems") ? [.haptics, .audio] : [.all]
    let output = arguments.value("--output")
    if output == Self.standardOutput {
      guard inputs.count == 1, stems == [.all] else {
        throw UsageError(.remove, "'--output -' takes one pattern without '--stems'")
      }
      items = [
        Item(
          input: inputs[0], path: Self.standardOutput, container: asked ?? .wav, buses: .all)
      ]
      return
    }
    let isFolder =
      inputs.count > 1
      || output.map { $0.hasSuffix("/") || FileSystem.entry(at: $0) == .folder } ?? true
    for input in inputs {
      for buses in stems {
        let suffix =
          switch buses {
          case .all: ""
          case .haptics: ".haptic"
          case .audio: ".audio"
          }
        if isFolder {
          let container = asked ?? .wav
          let name = input.outputStem + suffix + "." + container.rawValue
          items.append(
            Item(
              input: input, path: FileSystem.join(output ?? "", name), container: container,
              buses: buses))
        } else if let output {
          guard let container = asked ?? SoundFileFormat.container(ofName: output) else {
            throw UsageError(
              .correctValue,
              "the ending of \(output.inQuotes) names no kind of sound file; use .wav, .flac, .aiff, "
                + ".w64, .rf64, .caf or .ogg, or say '--container'")
          }
          var path = output
          if !suffix.isEmpty {
            let folder = FileSystem.folder(of: output)
            let ending = output.lastIndex(of: ".").map { String(output[$0...]) } ?? ""
            path = FileSystem.join(folder, FileSystem.stem(of: output) + suffix + ending)
          }
          items.append(Item(input: input, path: path, container: container, buses: buses))
        }
      }
    }
    try refuseClashes()
  }

  /// Two patterns of one name would overwrite one another.
  private func refuseClashes() throws {
    var owners: [String: String] = [:]
    for item in items {
      if let other = owners[item.path] {
        throw UsageError(
          .correctValue, "\(other) and \(item.input.name) would both be written to \(item.path)")
      }
      owners[item.path] = item.input.name
    }
  }

  /// Why the outputs cannot be: sound is not for terminals.
  func refusal(on terminal: Terminal) -> UsageError? {
    guard items.first?.path == Self.standardOutput, terminal.output.isTerminal else { return nil }
    return UsageError(
      .correctValue, "standard output is a terminal; give '--output' a file, or pipe it on")
  }
}
