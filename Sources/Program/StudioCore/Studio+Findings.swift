internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternRules
internal import Reading
internal import VendorFormats

extension Studio {
  /// The rules that a suppression in a pattern file can name.
  private static let suppressibleRules =
    FormatRegistry.standard.rules + PatternRules.compositionRules + PatternRules.playbackRules
    + PatternRules.hardwareRules + PatternRules.compilationRules

  /// Returns the same findings about a document as `temblor check --profile`, in the order of the
  /// text.
  ///
  /// A sound file that the host has not added is reported as missing.
  func findings(of index: Int, profile: Int) -> [Finding] {
    let document = documents[index]
    let documentFile = SourceFile(document.text, name: document.fileName)
    if let error = document.readingError, document.conversionOrigin == nil,
      (try? FormatRegistry.standard.format(of: documentFile))?.id != HapticFormat.ahapID
    {
      return [error.finding]
    }
    let readResult = HapticFormat.ahap.examine(documentFile)
    var otherFindings = missingSoundFindings(for: readResult.soundReferences)
    if let composition = readResult.composition {
      otherFindings += ruleFindings(
        in: composition, sourceMap: readResult.sourceMap, profile: profile,
        hasAppleParameters: document.conversionOrigin == nil || document.historySummary.isChanged)
    }
    return readResult.findings(adding: otherFindings, rules: Self.suppressibleRules)
  }

  /// Returns the findings about sound files that the host has not added.
  private func missingSoundFindings(for references: [ReadResult.SoundReference]) -> [Finding] {
    references.filter { soundsByPath[$0.path] == nil }.map { reference in
      Finding(
        .missingSound, severity: .warning, location: reference.location,
        "the sound file \(reference.path.quoted()) is missing",
        suggestion: "drop the file on the page")
    }
  }

  /// Returns the findings of the rules about compositions, playback, and hardware.
  private func ruleFindings(
    in composition: HapticComposition, sourceMap: SourceMap, profile: Int,
    hasAppleParameters: Bool
  ) -> [Finding] {
    let locateElement = sourceMap.location(of:)
    var findings = PatternRules.findings(
      in: composition, hasAppleParameters: hasAppleParameters, location: locateElement)
    do {
      let plan = try compilePlan(of: composition, profile: profile, rate: Self.defaultRateHertz)
      findings += PatternRules.polyphonyFindings(
        voiceCount: plan.maximumVoiceCount, location: locateElement)
      if plan.frameCount <= Int64(Self.defaultRateHertz * Self.maximumHardwareCheckSeconds) {
        findings += PatternRules.hardwareFindings(
          in: composition, profile: self.profile(profile), plan: plan, location: locateElement)
      }
    } catch {
      findings.append(InputError(error, location: locateElement).finding)
    }
    return findings
  }

  /// The maximum duration of a pattern that the hardware rules examine, in seconds. It keeps
  /// reports fast.
  private static let maximumHardwareCheckSeconds = 30.0
}
