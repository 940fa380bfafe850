internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading

// The calls of the C interface for figures and files of the sound of a document.

/// Returns the frequency in hertz at which a profile plays the given sharpness, or NaN for an
/// invalid profile or sharpness.
@_expose(wasm, "hertz") @_cdecl("temblor_hertz")
public func temblorHertz(_ handle: StudioHandle?, _ profile: Int32, _ sharpness: Double) -> Double {
  var hertz = Double.nan
  _ = unsafe runCall(handle) { instance throws(CallError) in
    let profile = try instance.checkedProfileIndex(profile)
    guard sharpness.isFinite else { throw .invalidArgument("the sharpness is \(sharpness)") }
    hertz = instance.studio.playedHertz(profile: profile, sharpness: sharpness)
    return 1
  }
  return hertz
}

/// Sets the output to the rendering of a document as a WAV file with 32-bit floating-point samples.
@_expose(wasm, "wav") @_cdecl("temblor_wav")
public func temblorWav(_ handle: StudioHandle?, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  unsafe runCall(handle) { instance throws(CallError) in
    var renderer = try instance.makeRenderer(of: slot, profile: profile, rate: rate)
    return instance.setOutput(WaveFile.encodedBytes(of: renderer.samples(), rate: rate))
  }
}

/// Sets the output to a spectrogram of the last rendering between two times, as decibels column by
/// column.
/// The rows range from 0 Hz to 500 Hz, or to 1.5 times the maximum frequency of the profile.
@_expose(wasm, "spectrogram") @_cdecl("temblor_spectrogram")
public func temblorSpectrogram(
  _ handle: StudioHandle?, _ columns: Int32, _ rows: Int32, _ start: Double, _ end: Double
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    try checkInteger(columns, 1...maximumSpectrogramColumnCount, "the number of columns")
    try checkInteger(rows, 1...maximumSpectrogramRowCount, "the number of rows")
    for time in [start, end] {
      try checkNumber(
        time, -FrameConversion.maximumSeconds...FrameConversion.maximumSeconds, "a time")
    }
    let rateHertz = instance.lastRendering.rate
    let excerpt = instance.lastRendering.excerpt(fromSeconds: start, toSeconds: end)
    let topHertz = max(
      500,
      1.5 * instance.studio.playedHertz(profile: instance.lastRendering.profileIndex, sharpness: 1))
    return instance.setOutput(
      Spectrogram.cellDecibels(
        of: excerpt, rate: rateHertz, columns: Int(columns), rows: Int(rows),
        upToHertz: min(topHertz, rateHertz / 2))
    )
  }
}

/// The maximum number of columns in a spectrogram.
private let maximumSpectrogramColumnCount: Int32 = 8_192
/// The maximum number of rows in a spectrogram.
private let maximumSpectrogramRowCount: Int32 = 1_024

/// Sets the output to the minimum and maximum acceleration of the profile's transducer in each
/// column.
/// The output is empty if the model of the transducer is unknown.
@_expose(wasm, "felt") @_cdecl("temblor_felt")
public func temblorFelt(_ handle: StudioHandle?, _ slot: Int32, _ profile: Int32, _ columns: Int32)
  -> Int32
{
  unsafe runCall(handle) { instance throws(CallError) in
    try checkInteger(columns, 1...maximumSpectrogramColumnCount, "the number of columns")
    let slot = try instance.checkedDocumentIndex(slot)
    let profile = try instance.checkedProfileIndex(profile)
    let accelerations = try convertingInputErrors { () throws(InputError) in
      try instance.studio.simulateAcceleration(
        slot, profile: profile, rate: Studio.defaultRateHertz)
    }
    return instance.setOutput(Studio.columnExtremes(of: accelerations, columns: Int(columns)))
  }
}
