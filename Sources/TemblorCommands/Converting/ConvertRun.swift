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
  var statuses: [ExitStatus]
  private var entries: [Entry] = []
  private var sounds = CopiedSounds()

  private struct Entry {
    var input: String
    var from: String
    var files: [String]
    var losses: [PatternConversion.PlacedLoss]
  }

  init(
    conversion: PatternConversion, formats: FormatRegistry, outputs: ConvertOutputs, isStrict: Bool, isQuiet: Bool,
    statuses: [ExitStatus]
  ) {
    self.conversion = conversion
    self.formats = formats
    self.outputs = outputs
    self.isStrict = isStrict
    self.isQuiet = isQuiet
    self.statuses = statuses
  }

  mutating func convert(_ input: PatternInput, to path: String, on terminal: Terminal) throws {
    do {
      var conversion = conversion
      let isStream = path == ConvertOutputs.standardOutput
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
        statuses.append(.invalidInput)
        terminal.report(
          "\(input.name): not converted: \(losses.count) "
            + "\(losses.count == 1 ? "loss" : "losses") with '--strict'".printable)
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
      entries.append(Entry(input: input.name, from: result.source.id, files: files, losses: losses))
    } catch let error as StreamError { throw error } catch {
      terminal.report(Failure.message(error))
      statuses.append(Failure.status(of: error))
    }
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

  func json() -> [UInt8] {
    var json = JSONWriter()
    json.array { list in
      for entry in entries {
        list.object { object in
          object.member("input", entry.input)
          object.member("from", entry.from)
          object.member("to", conversion.target.id)
          object.array("files") { files in for file in entry.files { files.element(file) } }
          object.array("losses") { losses in
            for loss in entry.losses { losses.object { LossLine(loss).write(to: &$0) } }
          }
        }
      }
    }
    return json.finish()
  }
}

/// A loss as `convert` prints it.
struct LossLine {
  private let placed: PatternConversion.PlacedLoss

  init(_ placed: PatternConversion.PlacedLoss) { self.placed = placed }

  /// `PLACE: KIND: MESSAGE`.
  var text: String { "\(placed.place): \(placed.loss.kind.rawValue): \(placed.loss.message)" }

  func write(to object: inout JSONObjectWriter) {
    object.member("file", placed.place.name)
    switch placed.place.position {
    case .whole: break
    case .text(let line, let column):
      object.member("line", line)
      object.member("column", column)
    case .byte(let byte, let bit):
      object.member("byte", byte)
      if let bit { object.member("bit", bit) }
    }
    object.member("path", placed.place.path)
    object.member("kind", placed.loss.kind.rawValue)
    object.member("message", placed.loss.message)
    if let size = placed.loss.size, size.isFinite { object.member("size", size) }
  }
}
