import CommandLineKit
import Reading
import HapticRender
import PatternWorkflows
import SystemSupport

/// Renders a batch and reports what became of each file.
struct RenderReport {
  let batch: RenderBatch
  let problems: [FileError]

  private static let greatestChangeCount = 3
  /// The peak from which the limiter changed a sound by 0.1 dB and more.
  private static let leastLimited = Float(Renderer.ceiling) * 1.0116

  /// Renders everything and reports on standard error; as JSON also on standard output.
  func run(on terminal: Terminal, isQuiet: Bool, asJSON: Bool) throws -> ExitStatus {
    var line = ProgressLine(on: terminal)
    let items = batch.items
    let showsProgress = items.count > 1 || terminal.error.isTerminal
    let results = batch.run(
      progress: !showsProgress
        ? nil
        : { done, fraction in
          guard !isQuiet else { return }
          line.show(
            items.count == 1
              ? "\(items[0].name.printable): \(Int(fraction * 100)) %" : "\(done) of \(items.count) sounds")
        })
    line.clear()
    report(results, on: terminal, isQuiet: isQuiet)
    if asJSON { try terminal.output.write(json: fields(results)) }
    let statuses: [ExitStatus] = results.map {
      switch $0 {
      case .written: .done
      // The reader of standard output has all it wants, as `head` does.
      case .failed(let error as StreamError) where error.kind == .brokenPipe: .done
      case .failed(let error): Failure.status(of: error)
      }
    }
    return Failure.worst(statuses + problems.map { _ in .failure })
  }

  private func report(_ results: [RenderBatch.Outcome], on terminal: Terminal, isQuiet: Bool) {
    var failures = problems.map(\.description)
    var changed: [String] = []
    var written = 0
    for (item, result) in zip(batch.items, results) {
      switch result {
      case .written(let seconds, let statistics, let warnings):
        written += 1
        guard !isQuiet else { continue }
        for warning in warnings { terminal.report(warning.description.printable) }
        // Of two stems one is often silent, and strength 0 is silence asked for.
        if statistics.peak == 0, item.buses == .all, batch.job.strength > 0 {
          terminal.report(
            "\(item.name.printable): silent: all events have level 0 or "
              + (warnings.isEmpty ? "silent sound files" : "silent or damaged sound files"))
        }
        let level = LevelText(statistics, rate: Double(batch.job.rate))
        let protection = ProtectionSummary(statistics)
        let text = level.whole + (protection.map { ", \($0.text)" } ?? "")
        if batch.items.count <= 2, terminal.error.isTerminal {
          terminal.report("\(item.name.printable): \(NumberFormatting.seconds(seconds)), \(text)")
        } else if statistics.peak > Self.leastLimited || protection?.cause != nil {
          changed.append("\(item.name.printable): \(text)")
        }
      case .failed(let error as StreamError) where error.kind == .brokenPipe: continue
      case .failed(let error): failures.append(Failure.message(error))
      }
    }
    // What changes a sound is said in a log, too; how far rendering got is for those who wait.
    for line in changed.prefix(Self.greatestChangeCount) { terminal.report(line) }
    let more = changed.count - Self.greatestChangeCount
    if more > 0 { terminal.report("\(more) more \(more == 1 ? "sound was" : "sounds were") limited") }
    for failure in failures { terminal.report(failure) }
    let count = batch.items.count + problems.count
    guard count > 2, !failures.isEmpty || !isQuiet && terminal.error.isTerminal else { return }
    terminal.report("\(written) of \(count) sounds written" + (failures.isEmpty ? "" : ", \(failures.count) failed"))
  }

  private func fields(_ results: [RenderBatch.Outcome]) -> [JSONFields] {
    let files = zip(batch.items, results).map { item, result -> JSONFields in
      let names: JSONFields = ["pattern": item.input.name, "file": item.name]
      switch result {
      case .written(let seconds, let statistics, let warnings):
        return names + [
          "seconds": seconds, "peakDecibels": NumberFormatting.decibels(statistics.peak),
          "limitedFrames": Int(statistics.limitedFrameCount),
        ] + ProtectionSummary(statistics)?.fields + [
          "warnings": warnings.isEmpty ? nil : warnings.map { FindingLine($0).fields }
        ]
      case .failed(let error): return names + ["error": Failure.message(error)]
      }
    }
    return files + problems.map { ["pattern": $0.path, "error": $0.description] }
  }
}
