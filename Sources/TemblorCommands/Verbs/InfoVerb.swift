import AHAP
import HapticModel
import HapticRender
import JSONText

/// `temblor info`: what a pattern holds and what a profile makes of it.
enum InfoVerb {
  static let description = CommandDescription(
    "info", abstract: "Tell what a pattern holds and what a profile makes of it.",
    arguments: [SharedOptions.pattern],
    options: [
      SharedOptions.profile, SharedOptions.rate, SharedOptions.curveTimes, SharedOptions.json,
    ],
    examples: [
      .init("temblor info earthquake-splash --profile speaker", "Measure a shipped pattern.")
    ]
  ) { arguments, terminal in
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    job.curveTimes = try SharedOptions.curveTimes(arguments)
    job.rate = try SharedOptions.rate(arguments)
    let (inputs, problems) = PatternInput.find(arguments.values("PATTERN"))
    var statuses = problems.map { _ in ExitStatus.couldNot }
    var measured: [PatternFigures] = []
    for problem in problems { terminal.report("\(problem)") }
    for input in inputs {
      do {
        let figures = try PatternFigures(input, job: job)
        if arguments.flag("--json") {
          measured.append(figures)
        } else {
          try terminal.output.write(figures.text)
        }
      } catch let error as OutputError {
        throw error
      } catch {
        terminal.report(Failure.message(error))
        statuses.append(Failure.status(of: error))
      }
    }
    if arguments.flag("--json") {
      var json = JSONWriter()
      json.array { list in
        for figures in measured { list.object { figures.write(to: &$0) } }
      }
      try terminal.output.write(json.finish().span)
    }
    return Failure.worst(statuses)
  }
}
