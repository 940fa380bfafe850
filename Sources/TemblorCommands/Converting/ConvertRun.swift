import CommandLineKit
import Reading
import HapticFormats
import PatternWorkflows
import SystemSupport

/// A conversion of one pattern after the other.
struct ConvertRun {
  let conversion: PatternConversion
  let formats: FormatRegistry
  let outputs: ConvertOutputs
  let isStrict: Bool
  let isQuiet: Bool
  let terminal: Terminal
  var work: BatchWork
  /// What was done of each input.
  private(set) var fields: [JSONFields] = []
  private var sounds = CopiedSounds()

  init(
    conversion: PatternConversion, formats: FormatRegistry, outputs: ConvertOutputs, isStrict: Bool, isQuiet: Bool,
    terminal: Terminal, work: BatchWork
  ) {
    self.conversion = conversion
    self.formats = formats
    self.outputs = outputs
    self.isStrict = isStrict
    self.isQuiet = isQuiet
    self.terminal = terminal
    self.work = work
  }

  mutating func convert(_ input: PatternInput, to path: String) throws {
    do {
      var conversion = conversion
      let isStream = path == OutputNames.standardOutput
      let stem = isStream ? input.outputStem : FileSystem.stem(of: path)
      conversion.writing.name = FileSystem.name(of: stem)
      let result = try conversion.convert(try input.file(), formats: formats)
      if !isQuiet {
        for finding in result.findings where finding.rule == FormatRegistry.misnamed.id {
          terminal.report("\(finding)".printable)
        }
      }
      let found = CopiedSounds.find(result.sounds, of: input)
      let losses = result.losses + found.losses
      for loss in losses { terminal.report(LossLine(loss).text.printable) }
      var files: [String] = []
      if isStrict, !losses.isEmpty {
        let count = "\(losses.count) \(losses.count == 1 ? "loss" : "losses")"
        work.fail("\(input.name): not converted: \(count) with '--strict'".printable, .invalidInput)
      } else if isStream {
        guard result.files.count == 1 else {
          throw FileError(input.name, "becomes \(result.files.count) files; use '--output FILE' or '--merge'")
        }
        let bytes = result.files[0].bytes
        try terminal.output.write(bytes.span)
      } else {
        let folder = FileSystem.folder(of: path)
        try sounds.check(found.files, folder: folder, inputs: outputs.inputs)
        files = try write(result.files, to: path, of: input)
        files += try sounds.copy(found.files, to: folder)
      }
      fields.append([
        "input": input.name, "from": result.source.id, "to": conversion.target.id, "files": files,
        "losses": losses.map { LossLine($0).fields },
      ])
    } catch { try work.attempt { _ in throw error } }
  }

  private func write(_ files: [Writing.File], to path: String, of input: PatternInput) throws -> [String] {
    let folder = FileSystem.folder(of: path)
    let name = FileSystem.name(of: path)
    let stem = FileSystem.stem(of: name)
    let ending = name.utf8.count > stem.utf8.count ? String(name.dropFirst(stem.count)) : ""
    try FileSystem.makeFolder(folder)
    let paths = files.map { file in
      FileSystem.join(folder, stem + file.suffix + (file.ending.map { ".\($0)" } ?? ending))
    }
    for path in paths where outputs.inputs.isInput(path) {
      throw FileError(path, "is an input; choose another '--output'")
    }
    for (file, path) in zip(files, paths) { try AtomicFileWriter.write(file.bytes, to: path) }
    return paths
  }

}

/// A loss as `convert` prints it.
struct LossLine {
  private let placed: PatternConversion.PlacedLoss

  init(_ placed: PatternConversion.PlacedLoss) { self.placed = placed }

  /// `PLACE: KIND: MESSAGE`.
  var text: String { "\(placed.place): \(placed.loss.kind.rawValue): \(placed.loss.message)" }

  var fields: JSONFields {
    let size = placed.loss.size.flatMap { $0.isFinite ? $0 : nil }
    return ["file": placed.place.name] + placed.place.positionFields + [
      "path": placed.place.path, "kind": placed.loss.kind.rawValue, "message": placed.loss.message, "size": size,
    ]
  }
}
