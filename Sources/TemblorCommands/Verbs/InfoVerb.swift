import HapticFormats
import VendorFormats
import CommandLineKit
import HapticModel
import HapticRender
import Reading
import PatternWorkflows
import SignalAnalysis
import SystemSupport

/// `temblor info`: what a pattern holds and what a profile makes of it, or how strong a sound is.
enum InfoVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "info", abstract: "Show the contents and levels of patterns and sound files.",
      arguments: [
        Argument(
          "PATTERN",
          help:
            "A sound file, a pattern file of any format, a folder of patterns, the name of a shipped pattern, or - for standard input.",
          completion: .takes(formats), isRepeatable: true)
      ],
      options: [
        SharedOptions.profile, SharedOptions.rate, SharedOptions.curveTimes,
        Option(
          "--weighting", value: "NAME",
          help:
            "Vibrotactile weighting of sound files: a hand holding a device, hand and arm on a handle, or a whole body on a seat.",
          defaultText: VibrotactileWeighting.hand.name, choices: VibrotactileWeighting.all.map(\.name)),
        SharedOptions.json,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor info earthquake-splash --profile speaker", "Measure a shipped pattern."),
        .init("temblor info take.wav", "Measure a recording."),
      ]
    ) { arguments, terminal in
      var job = try SharedOptions.job(arguments)
      job.reading = try SharedOptions.reading(arguments)
      job.rate = try SharedOptions.rate(arguments)
      let weighting = arguments.value("--weighting").flatMap(VibrotactileWeighting.named) ?? .hand
      let (inputs, problems) = TakeInput.find(
        arguments.values("PATTERN"), formats: formats, sounds: try SharedOptions.sounds(arguments))
      var statuses = problems.map { _ in ExitStatus.failure }
      var measured: [Subject] = []
      for problem in problems { terminal.report("\(problem)") }
      for input in inputs {
        do {
          let subject = try Subject(input, job, weighting, terminal)
          if arguments.flag("--json") { measured.append(subject) } else { try terminal.output.write(subject.text) }
          for complaint in subject.complaints {
            terminal.report(complaint)
            statuses.append(.invalidInput)
          }
        } catch let error as StreamError { throw error } catch {
          terminal.report(Failure.message(error))
          statuses.append(Failure.status(of: error))
        }
      }
      if arguments.flag("--json") {
        var json = JSONWriter()
        json.array { list in for subject in measured { list.object { subject.write(to: &$0) } } }
        try terminal.output.write(json.finish().span)
      }
      return Failure.worst(statuses)
    }
  }

  private enum Subject {
    case pattern(PatternSummary)
    case sound(SoundSummary)

    init(_ input: TakeInput, _ job: RenderJob, _ weighting: VibrotactileWeighting, _ terminal: Terminal) throws {
      switch input {
      case .pattern(let input): self = .pattern(try PatternSummary(input, job: job))
      case .sound(let path):
        var line = ProgressLine(on: terminal)
        defer { line.clear() }
        self = .sound(
          try SoundSummary(path, weighting: weighting) { share in line.show("\(path.printable): \(Int(share * 100)) %")
          })
      }
    }

    var text: String {
      switch self {
      case .pattern(let figures): figures.text
      case .sound(let figures): figures.text
      }
    }

    var complaints: [String] {
      if case .sound(let figures) = self { return figures.complaints }
      return []
    }

    func write(to json: inout JSONObjectWriter) {
      switch self {
      case .pattern(let figures): figures.write(to: &json)
      case .sound(let figures): figures.write(to: &json)
      }
    }
  }
}
