public import Diagnostics
import HapticModel
import JSONText

extension AHAPDocument {
  /// Reads the pattern as Apple's loader is documented to, or reports the first error.
  ///
  /// Unknown keys are ignored, values outside their range are moved to the nearest bound.
  public func read(options: AHAPReadingOptions = AHAPReadingOptions()) throws(InputError)
    -> AHAPReading
  {
    var decoder = PatternDecoder(json, options: options)
    let reading = decoder.decode()
    guard decoder.log.errorCount == 0 else {
      let errors = decoder.log.findings(in: json).filter { $0.severity == .error }
      throw InputError(errors[0], otherErrorCount: decoder.log.errorCount - 1)
    }
    return reading
  }

  /// Reads the pattern, collects every error, and checks the file against every rule.
  ///
  /// The rules of design are checked only where there are no errors.
  public func examine(options: AHAPReadingOptions = AHAPReadingOptions()) -> AHAPExamination {
    var decoder = PatternDecoder(json, options: options)
    let reading = decoder.decode()
    decoder.checkText()
    let isReadable = decoder.log.errorCount == 0
    if isReadable { decoder.checkDesign() }
    let allowed = decoder.allowances(everyRuleWasChecked: isReadable)
    return AHAPExamination(
      reading: isReadable ? reading : nil,
      findings: FindingFilter(allowed: allowed).apply(to: decoder.log.findings(in: json)),
      waveforms: decoder.waveforms.map {
        AHAPExamination.Waveform(path: $0.string ?? "", place: $0.place)
      })
  }
}
