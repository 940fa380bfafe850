internal import HapticFormats
internal import Reading
internal import SignalAnalysis
internal import VendorFormats

// The calls of the C interface that write other formats and trace sounds.

/// Sets the output to the pattern in the format with the given id. The output is empty if the
/// pattern cannot be written.
@_expose(wasm, "save") @_cdecl("temblor_save")
public func temblorSave(
  _ handle: StudioHandle?, _ slot: Int32, _ format: BytePointer?, _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let formatID = try unsafe decodeText(format, length, of: "the format")
    let slot = try instance.checkedDocumentIndex(slot)
    instance.studio.lastConversionLosses = []
    guard let format = FormatRegistry.standard.format(id: formatID) else {
      throw .invalidArgument(
        "unknown format \(formatID.quoted())",
        suggestion: "the report \"formats\" lists the formats")
    }
    return instance.setOutput(
      try convertingInputErrors { () throws(InputError) in
        try instance.studio.convertedText(slot, as: format)
      })
  }
}

/// Traces a sound of at most an hour to a pattern, and opens it as an AHAP document 0…65,535.
/// Returns 1, or 0 with the error as output.
///
/// The profile is that of the recorded vibration, or that of the hardware for which the pattern is
/// meant.
@_expose(wasm, "trace") @_cdecl("temblor_trace")
public func temblorTrace(
  _ handle: StudioHandle?, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ samples: UnsafePointer<Float>?, _ count: Int32,
  _ channels: Int32, _ rate: Double, _ profile: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let name = try unsafe decodeText(name, nameLength, of: "the name")
    let samples = try unsafe StudioCore.copySamples(samples, count, channels: channels)
    try checkNumber(rate, 1...1_000_000, "the sample rate")
    let profile = try instance.profile(profile)
    let soundSignal = Signal(interleaved: samples, channelCount: Int(channels), rate: rate)
    let tracedFile = try convertingInputErrors { () throws(InputError) in
      try DocumentConversion.traceSound(soundSignal, named: name, profile)
    }
    return try instance.openDocument(slot, tracedFile)
  }
}
