import CommandLineKit
import HapticRender
import PatternWorkflows
import SystemSupport

/// Renders to files in the current folder what no device could play.
struct FileFallback {
  private let arguments: ParsedArguments

  /// A fallback for a live verb's command line.
  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  /// Writes NAME.wav for each pattern, with the sound that was asked for, played once or as often as said.
  func render(_ inputs: [PatternInput], _ terminal: Terminal) throws -> ExitStatus {
    var job = try SharedOptions.job(arguments)
    job.rate = try SharedOptions.rate(arguments)
    job.strength = try arguments.double("--strength", in: 0...1) ?? 1
    job.passCount = max(1, try arguments.int("--loop", in: 0...1_000_000) ?? 1)
    job.curveTimes = try SharedOptions.curveTimes(arguments)
    job.routing = try RoutingOptions.routing(arguments)
    job.channelCount = max(
      try arguments.int("--channels", in: OutputRouting.channelCounts) ?? 1,
      job.routing.minimumChannelCount)
    let outputs = try RenderOutputs(inputs)
    let batch = RenderBatch(job: job, items: outputs.items)
    let status = try RenderReport(batch: batch, problems: []).run(
      on: terminal, isQuiet: arguments.flag("--quiet"), asJSON: false)
    // At a terminal the batch has told of them.
    for item in outputs.items where status == .done && !terminal.error.isTerminal {
      terminal.report("\(item.name.printable): written")
    }
    return status
  }
}
