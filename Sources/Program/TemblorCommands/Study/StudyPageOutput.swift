import CommandLineKit
import HapticRender
import ListeningTests
import PatternWorkflows
import ReviewPages
import SoundFile
import SystemSupport

/// The HTML page on which participants take part in a study in a browser.
struct StudyPageOutput {
  /// The name of the device in the results of participants who answered on the page.
  static let deviceFieldText = "browser"

  let table: StudyTable
  let pairs: [StudyPair]
  let options: StudyCommand.Options
  let job: RenderJob

  /// Writes the page with the sounds of all stimuli. The sounds are the same as for `--render`.
  func write(to path: String, _ terminal: Terminal) throws {
    guard path != OutputPaths.standardOutput else {
      throw UsageError("'--page' requires a file name")
    }
    try InputOverwriteCheck(reading: [table.tablePath]).checkOutputPath(path, option: "--page")
    let pageBytes = try makeHTML()
    try AtomicFileWriter.write(pageBytes, to: path)
    guard !options.isQuiet else { return }
    PageOutput(pagePath: path, byteCount: pageBytes.count, opensInBrowser: false)
      .reportPage("written", on: terminal)
  }

  private func makeHTML() throws -> [UInt8] {
    let renderings = try table.renderings(for: [job.profile], job: job)
    let stimuli = try zip(table.stimuli, renderings).map { stimulus, rendering in
      StudyPage.Stimulus(
        id: stimulus.id, valueText: stimulus.staircaseValueText,
        soundFileBytes: try StudyCommand.soundFile(of: stimulus, rendering, job))
    }
    let programName = "temblor \(temblorVersion)"
    return try StudyPage(
      generator: "Temblor \(temblorVersion)", name: FileSystem.fileStem(of: table.tablePath),
      stimulusTableHash: table.tableIDInResults, procedure: options.procedure,
      question: options.question,
      stimuli: stimuli, pairs: pairs, repeatCount: options.repeatCount, seed: options.seed,
      stimulusGapSeconds: options.gapSeconds, trialsBetweenBreaks: options.trialCountBetweenBreaks,
      conditions: [
        "profile": job.profile.name, "strength": "1", "device": Self.deviceFieldText,
        "program": programName,
        "simulated": "false",
      ], sampleRate: Double(job.sampleRateHertz)
    ).html()
  }
}
