internal import CommandLineKit
internal import Glibc
internal import Synchronization
import AHAP
import HapticRender
import JSONText
internal import SystemSupport

/// Renders many patterns on all cores, goes on when one fails, and tells what became of each.
struct RenderBatch: Sendable {
  /// What became of one file.
  enum Outcome: Sendable {
    case written(seconds: Double, statistics: RenderStatistics)
    case failed(String, ExitStatus)
    /// Whoever read standard output has all it wants, as `head` does.
    case brokenPipe
  }

  let job: RenderJob
  let outputs: RenderOutputs
  /// What was asked for and could not be found.
  let problems: [FileError]

  /// Renders everything and reports on standard error; as JSON also on standard output.
  func run(on terminal: Terminal, isQuiet: Bool, asJSON: Bool) throws -> ExitStatus {
    let outcomes = Mutex([Outcome?](repeating: nil, count: outputs.items.count))
    let share = Mutex(0.0)
    var line = ProgressLine(on: terminal)
    let items = outputs.items
    let work: @Sendable (Int) -> Void = { index in
      let outcome = render(items[index]) { part in
        if items.count == 1 { share.withLock { $0 = part } }
      }
      outcomes.withLock { $0[index] = outcome }
    }
    if items.count == 1 && !terminal.error.isTerminal {
      // Threads would cost more than the sound.
      work(0)
    } else {
      WorkerPool.run(items.count, work: work) { done in
        guard !isQuiet else { return }
        line.show(
          items.count == 1
            ? "\(items[0].path.printable): \(Int(share.withLock { $0 } * 100)) %"
            : "\(done) of \(items.count) sounds")
      }
    }
    line.clear()
    let results = outcomes.withLock { $0 }
    report(results, on: terminal, isQuiet: isQuiet)
    if asJSON { try terminal.output.write(json(results).span) }
    let statuses: [ExitStatus] = results.map {
      if case .failed(_, let status)? = $0 { status } else { .done }
    }
    return Failure.worst(statuses + problems.map { _ in .failure })
  }

  /// Renders one pattern to its file; whatever goes wrong is the outcome.
  private func render(_ item: RenderOutputs.Item, progress: (Double) -> Void) -> Outcome {
    if SignalHandling.isRequested {
      return .failed("\(item.path.printable): interrupted", .failure)
    }
    do {
      var job = job
      job.buses = item.buses
      let (plans, reading, sources) = try job.plans(item.input)
      if sources.contains(where: { FileSystem.isSame($0, item.path) }) {
        throw FileError(
          item.path, "is an input of the pattern; choose another '--output'")
      }
      let title = reading.metadata["Project"].map { "\($0): \(item.input.outputStem)" }
      let name = title ?? item.input.outputStem
      let statistics: RenderStatistics
      if item.path == RenderOutputs.standardOutput {
        statistics = try writeToStandardOutput(plans, item, job: job, title: name)
      } else {
        try FileSystem.makeFolder(FileSystem.folder(of: item.path))
        var file = try AtomicFileWriter(item.path)
        statistics = try job.write(
          plans, title: name, to: file.descriptor, path: item.path, container: item.container,
          progress: progress)
        try file.commit()
      }
      let length = job.settings(for: plans).length ?? 0
      return .written(seconds: Double(length) / Double(job.rate), statistics: statistics)
    } catch let error as StreamError where error.kind == .brokenPipe {
      return .brokenPipe
    } catch {
      return .failed(Failure.message(error), Failure.status(of: error))
    }
  }

  /// A header is completed last, so the file is made apart and copied out.
  private func writeToStandardOutput(
    _ plans: [RenderPlan], _ item: RenderOutputs.Item, job: RenderJob, title: String
  ) throws -> RenderStatistics {
    guard let spool = unsafe tmpfile() else {
      throw FileError.system("standard output", "no room for a temporary file")
    }
    defer { unsafe fclose(spool) }
    let descriptor = unsafe fileno(spool)
    let statistics = try job.write(
      plans, title: title, to: descriptor, path: "standard output", container: item.container
    ) { _ in }
    lseek(descriptor, 0, SEEK_SET)
    let output = Output.standardOutput
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return statistics }
      try output.write(buffer.span.extracting(first: count))
    }
  }

  private func report(_ results: [Outcome?], on terminal: Terminal, isQuiet: Bool) {
    var failures = problems.map(\.description)
    var written = 0
    for (item, result) in zip(outputs.items, results) {
      switch result {
      case .written(let seconds, let statistics):
        written += 1
        // Of two stems one is often silent, and strength 0 is silence asked for.
        if statistics.peak == 0, item.buses == .all, job.strength > 0, !isQuiet {
          terminal.report(
            "\(item.path.printable): silent: all events have level 0")
        }
        guard outputs.items.count <= 2, !isQuiet, terminal.error.isTerminal else { continue }
        terminal.report(
          "\(item.path.printable): \(NumberFormatting.seconds(seconds)), \(NumberFormatting.peak(statistics.peak))"
            + (ProtectionSummary(statistics).map { ", \($0.text)" } ?? ""))
      case .failed(let message, _): failures.append(message)
      case .brokenPipe: continue
      case nil: failures.append("\(item.path.printable): not started")
      }
    }
    for failure in failures { terminal.report(failure) }
    let count = outputs.items.count + problems.count
    guard count > 2, !failures.isEmpty || !isQuiet && terminal.error.isTerminal else { return }
    terminal.report(
      "\(written) of \(count) sounds written"
        + (failures.isEmpty ? "" : ", \(failures.count) failed"))
  }

  private func json(_ results: [Outcome?]) -> [UInt8] {
    var json = JSONWriter()
    json.array { list in
      for (item, result) in zip(outputs.items, results) {
        list.object { entry in
          entry.member("pattern", item.input.name)
          entry.member("file", item.path)
          switch result {
          case .written(let seconds, let statistics):
            entry.member("seconds", seconds)
            entry.member("peakDecibels", NumberFormatting.decibels(statistics.peak))
            entry.member("limitedFrames", Int(statistics.limitedFrameCount))
            ProtectionSummary(statistics)?.write(to: &entry)
          case .failed(let message, _): entry.member("error", message)
          case .brokenPipe: break
          case nil: entry.member("error", "not started")
          }
        }
      }
      for problem in problems {
        list.object { entry in
          entry.member("pattern", problem.path)
          entry.member("error", problem.description)
        }
      }
    }
    return json.finish()
  }
}
