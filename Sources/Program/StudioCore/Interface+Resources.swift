internal import Reading
internal import TransducerProfiles

// The calls of the C interface that add sound files and profiles.

/// Adds a decoded sound file under the path by which patterns refer to it.
///
/// - Parameters:
///   - handle: The instance.
///   - name: The path in patterns, in UTF-8.
///   - nameLength: The number of bytes of the path.
///   - samples: The interleaved samples.
///   - count: The number of samples.
///   - channels: The number of channels.
///   - rate: The sample rate, in hertz.
/// - Returns: 1, or 0 for invalid arguments.
@_expose(wasm, "sound") @_cdecl("temblor_sound")
public func temblorSound(
  _ handle: StudioHandle?, _ name: BytePointer?, _ nameLength: Int32,
  _ samples: UnsafePointer<Float>?,
  _ count: Int32,
  _ channels: Int32, _ rate: Double
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let name = try unsafe decodeText(name, nameLength, of: "the name")
    let samples = try unsafe StudioCore.copySamples(samples, count, channels: channels)
    try checkNumber(rate, 500...1_000_000, "the sample rate")
    instance.studio.soundsByPath[name] = DecodedSound(
      interleaved: samples, channelCount: Int(channels), sampleRateHertz: rate)
    return 1
  }
}

/// Adds a user's profile from its JSON text. Returns its index, or −1 with the error as output.
@_expose(wasm, "addProfile") @_cdecl("temblor_add_profile")
public func temblorAddProfile(_ handle: StudioHandle?, _ content: BytePointer?, _ length: Int32)
  -> Int32
{
  unsafe runCall(handle, failureResult: -1) { instance throws(CallError) in
    let content = try unsafe copyBytes(content, length, of: "the profile")
    instance.studio.profiles.append(
      try convertingInputErrors { () throws(InputError) in
        try ProfileFile.read(text: content, name: "profile")
      })
    return Int32(clamping: instance.studio.profiles.count - 1)
  }
}
