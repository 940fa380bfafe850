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
      job.rate = try arguments[SharedOptions.rate]
      let weighting = arguments.value("--weighting").flatMap(VibrotactileWeighting.named) ?? .hand
      let (inputs, problems) = TakeInput.find(
        arguments.values("PATTERN"), formats: formats, sounds: try SharedOptions.sounds(arguments))
      var work = BatchWork(on: terminal, problems: problems)
      var fields: [JSONFields] = []
      for input in inputs {
        try work.attempt { work in
          let (text, object, complaints) = try report(input, job, weighting, terminal)
          if arguments.flag("--json") { fields.append(object) } else { try terminal.output.write(text) }
          for complaint in complaints { work.fail(complaint, .invalidInput) }
        }
      }
      if arguments.flag("--json") { try terminal.output.write(json: fields) }
      return work.status
    }
  }

  private static func report(
    _ input: TakeInput, _ job: RenderJob, _ weighting: VibrotactileWeighting, _ terminal: Terminal
  ) throws -> (text: String, fields: JSONFields, complaints: [String]) {
    switch input {
    case .pattern(let input):
      let figures = try PatternSummary(input, job: job)
      return (figures.text, figures.fields, [])
    case .sound(let path):
      var line = ProgressLine(on: terminal)
      defer { line.clear() }
      let figures = try SoundSummary(path, weighting: weighting) { share in
        line.show("\(path.printable): \(Int(share * 100)) %")
      }
      return (figures.text, figures.fields, figures.complaints)
    }
  }
}
