internal import HapticRender
internal import RealtimeMemory

// The calls of the C interface that pass a compiled plan from one instance to another.

/// Sets the output to the compiled plan of a document, for an instance with live sound.
@_expose(wasm, "plan") @_cdecl("temblor_plan")
public func temblorPlan(_ handle: StudioHandle?, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  unsafe runCall(handle) { instance throws(CallError) in
    try checkSampleRate(rate)
    let plan = try instance.compilePlan(slot, profile: profile, rate: rate)
    instance.outputBuffer = plan.serialized()
    return Int32(clamping: instance.outputBuffer.count)
  }
}

/// Returns memory for the bytes of a plan, or NULL for an invalid length.
/// No other call uses the memory, so that the bytes can be copied in pieces over several audio
/// blocks.
@_expose(wasm, "livePlanInput") @_cdecl("temblor_live_plan_input")
public func temblorLivePlanInput(_ handle: StudioHandle?, _ length: Int32) -> UnsafeMutablePointer<
  UInt8
>? {
  var address: UnsafeMutablePointer<UInt8>?
  _ = unsafe runLiveCall(handle) { instance throws(CallError) in
    try checkInteger(length, 0...maximumPlanByteCount, "the length")
    instance.incomingPlanBytes = unsafe FixedBuffer(uninitialized: Int(length))
    unsafe address = instance.incomingPlanBytes.address
    return 1
  }
  return unsafe address
}

/// The maximum number of bytes of a compiled plan: 512 MiB.
private let maximumPlanByteCount: Int32 = 1 << 29

/// Plays the copied plan from the position of the previous plan. Returns 0 for a plan of another
/// build of the module.
@_expose(wasm, "livePlan") @_cdecl("temblor_live_plan")
public func temblorLivePlan(
  _ handle: StudioHandle?, _ slot: Int32, _ length: Int32, _ profile: Int32
) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    try instance.play(slot, profile: profile) { live throws(CallError) in
      var bytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
      swap(&bytes, &instance.incomingPlanBytes)
      guard let plan = RenderPlan.deserialized(from: bytes, count: Int(length)) else {
        throw .invalidArgument("the bytes are not a plan of this build")
      }
      guard plan.rate == live.sampleRateHertz else {
        throw .invalidArgument(
          "the plan has the sample rate \(plan.rate), and live sound has \(live.sampleRateHertz)")
      }
      return plan
    }
  }
}
