import Glibc
import HapticFormats
import HapticModel
import HapticRender
import Reading
import SoundFile
import VendorFormats

@testable import ListeningTests
@testable import PatternWorkflows
@testable import SystemSupport
@testable import TemblorCommands

/// Files for trials of code that reads by path, in a folder of this process in memory.
enum TrialFolder {
  private static let path: String = {
    var template = Array("/dev/shm/temblor-fuzz-XXXXXX".utf8CString)
    guard let folder = unsafe mkdtemp(&template) else { fatalError("no temporary folder") }
    let path = unsafe String(cString: folder)
    atexit { TrialFolder.removeFiles() }
    return path
  }()

  /// Writes a file, and returns its path.
  static func write(_ bytes: [UInt8], to name: String) -> String {
    let filePath = path + "/" + name
    do {
      try AtomicFileWriter.write(bytes, to: filePath)
    } catch {
      fatalError("a temporary file cannot be written: \(error)")
    }
    return filePath
  }

  private static func removeFiles() {
    for name in (try? FileSystem.allNames(in: path)) ?? [] {
      unsafe unlink(path + "/" + name)
    }
    unsafe rmdir(path)
  }
}

/// Reads a text as a sound file that contains vibration, and renders it as a pattern.
struct SoundPatternTrial {
  /// The maximum number of frames of all channels together that are rendered.
  private static let frameLimit = 32_000

  let text: [UInt8]

  func run() {
    var choices = Choices(text)
    var input = PatternInput(
      origin: .file(TrialFolder.write(text, to: "sound")), outputStem: "sound")
    input.soundChannels = choices.pick(nil, nil, [0], [1, 0], [70])
    do {
      // A file with another signature would be read as a pattern.
      guard let composition = try SoundPattern.readComposition(of: input) else { return }
      let signals = composition.layers.flatMap(\.signals)
      require(!signals.isEmpty, "a sound without a signal")
      require(composition.bodyLocationCount <= 64, "too many body locations")
      require(composition.layers.allSatisfy { $0.pattern.events.isEmpty }, "an event in a sound")
      let frameCount = signals.reduce(0) { $0 + $1.samples.count }
      guard frameCount <= Self.frameLimit else { return }
      try render(composition, rate: choices.pick(8_000, 48_000))
    } catch let error as FileError {
      requireOneLine(error.description)
    } catch let error as SoundFileError {
      requireOneLine(error.description)
    } catch let error as RenderError {
      requireOneLine(error.description)
    } catch {
      fatalError("another error: \(error)")
    }
  }

  private func render(_ composition: HapticComposition, rate: Double) throws {
    let plan = try RenderPlan(compiling: composition, profile: .phone, rate: rate)
    guard plan.frameCount <= Self.frameLimit else { return }
    var rendering = OfflineRenderer(plan: plan)
    requireBelowCeiling(rendering.samples())
  }
}

/// Reads a text as a table, as the stimuli of a study, and as the results of a study.
struct TableTrial {
  let text: [UInt8]

  func run() {
    checkTable()
    checkStimuli()
    checkResults()
  }

  /// A table that is written must read back equal.
  private func checkTable() {
    do throws(CSVTable.FormatError) {
      let table = try CSVTable(text)
      require(!table.columnNames.isEmpty, "a table without columns")
      require(
        table.rows.allSatisfy { $0.fields.count == table.columnNames.count },
        "a row with another number of fields")
      let written = Array(table.csvText.utf8)
      // Names are quoted only if the CSV format requires it, so that a written table can begin like
      // JSON or XML, or its only column can look like columns with other separators.
      guard let back = try? CSVTable(written) else {
        let isOtherKind = table.columnNames[0].unicodeScalars.first.map {
          "{[< \t\r\n".unicodeScalars.contains($0)
        }
        require(isOtherKind == true || table.columnNames.count == 1, "a written table is refused")
        return
      }
      require(
        back.columnNames == table.columnNames
          && back.rows.map(\.fields) == table.rows.map(\.fields),
        "a table changes when written and read")
    } catch {
      requireOneLine(error.description)
    }
  }

  private func checkStimuli() {
    do {
      let table = try StudyTable(
        "t.csv", bytes: text, tableHash: SHA256.hash(of: text), formats: .standard,
        readingOptions: ReadingOptions())
      require(!table.stimuli.isEmpty, "a study without stimuli")
      for procedure in StudyProcedure.allCases {
        guard let pairs = try? table.stimulusPairs(for: procedure) else { continue }
        require(
          pairs.allSatisfy {
            table.stimuli.indices.contains($0.testedStimulusIndex)
              && table.stimuli.indices.contains($0.referenceStimulusIndex)
          }, "a pair of no stimuli")
        _ = StudyConditionsTable.bytes(of: pairs, in: table)
      }
    } catch let error as StudyTable.InvalidRows {
      require(!error.findings.isEmpty, "refused without a finding")
      for finding in error.findings {
        requireOneLine(finding.description)
      }
    } catch {
      fatalError("another error: \(error)")
    }
  }

  /// Results that are written must read back equal.
  private func checkResults() {
    do {
      let results = try StudyResults("r.csv", bytes: text)
      let back = try StudyResults("r.csv", bytes: Array(results.csvText.utf8))
      for (row, rowReadBack) in zip(results.rows, back.rows) {
        require(
          StudyResults.columnNames.allSatisfy {
            row.fields[$0] ?? "" == rowReadBack.fields[$0] ?? ""
          },
          "results change when written and read")
      }
      require(results.rows.count == back.rows.count, "\(back.rows.count) results")
    } catch let error as InputError {
      requireOneLine(error.finding.description)
    } catch {
      fatalError("another error: \(error)")
    }
  }
}
