internal import CALSA
internal import SoundFile

/// The funnel's calls that negotiate.
extension PCMBindings {
  /// `snd_pcm_hw_params_any`, then `…_set_rate_resample`: everything the device can do by itself.
  func startNegotiation() throws(PCMFailure) {
    try check(.hardwareParametersAny) { unsafe snd_pcm_hw_params_any(pcm, parameters) }
    try check(.setResampling) { unsafe snd_pcm_hw_params_set_rate_resample(pcm, parameters, 0) }
  }

  /// `snd_pcm_hw_params_test_access`.
  func offers(_ access: PCMAccess) -> Bool { unsafe snd_pcm_hw_params_test_access(pcm, parameters, access.code) == 0 }

  /// `snd_pcm_hw_params_test_format`.
  func offers(_ encoding: SampleEncoding) -> Bool {
    unsafe snd_pcm_hw_params_test_format(pcm, parameters, encoding.code) == 0
  }

  /// `snd_pcm_hw_params_test_rate`.
  func offers(rate: Int) -> Bool { unsafe snd_pcm_hw_params_test_rate(pcm, parameters, UInt32(clamping: rate), 0) == 0 }

  /// `snd_pcm_hw_params_test_channels`.
  func offers(channelCount: Int) -> Bool {
    unsafe snd_pcm_hw_params_test_channels(pcm, parameters, UInt32(clamping: channelCount)) == 0
  }

  /// `snd_pcm_hw_params_set_access`.
  func set(_ access: PCMAccess) throws(PCMFailure) {
    try check(.setAccess) { unsafe snd_pcm_hw_params_set_access(pcm, parameters, access.code) }
  }

  /// `snd_pcm_hw_params_set_format`.
  func set(_ encoding: SampleEncoding) throws(PCMFailure) {
    try check(.setFormat) { unsafe snd_pcm_hw_params_set_format(pcm, parameters, encoding.code) }
  }

  /// `snd_pcm_hw_params_set_channels`.
  func set(channelCount: Int) throws(PCMFailure) {
    try check(.setChannels) { unsafe snd_pcm_hw_params_set_channels(pcm, parameters, UInt32(clamping: channelCount)) }
  }

  /// `snd_pcm_hw_params_set_rate`.
  func set(rate: Int) throws(PCMFailure) {
    try check(.setRate) { unsafe snd_pcm_hw_params_set_rate(pcm, parameters, UInt32(clamping: rate), 0) }
  }

  /// `snd_pcm_hw_params_set_rate_near`: the rate that was taken.
  func set(rateNear rate: Int) throws(PCMFailure) -> Int {
    var rate = UInt32(clamping: rate)
    try check(.setRate) { unsafe snd_pcm_hw_params_set_rate_near(pcm, parameters, &rate, nil) }
    return Int(rate)
  }

  /// `snd_pcm_hw_params_set_period_size_near`.
  func set(periodLengthNear length: Int) throws(PCMFailure) {
    var length = snd_pcm_uframes_t(clamping: length)
    try check(.setPeriodSize) { unsafe snd_pcm_hw_params_set_period_size_near(pcm, parameters, &length, nil) }
  }

  /// `snd_pcm_hw_params_set_buffer_size_near`.
  func set(bufferLengthNear length: Int) throws(PCMFailure) {
    var length = snd_pcm_uframes_t(clamping: length)
    try check(.setBufferSize) { unsafe snd_pcm_hw_params_set_buffer_size_near(pcm, parameters, &length) }
  }

  /// `snd_pcm_hw_params_set_periods_integer`, where the device can.
  func preferWholePeriods() { _ = unsafe snd_pcm_hw_params_set_periods_integer(pcm, parameters) }

  /// `snd_pcm_hw_params_get_channels_min` and `…_max`.
  func channelCounts() throws(PCMFailure) -> ClosedRange<Int> {
    var least: UInt32 = 0
    var most: UInt32 = 0
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_channels_min(parameters, &least) }
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_channels_max(parameters, &most) }
    return Int(least)...max(Int(least), Int(most))
  }

  /// `snd_pcm_hw_params_get_rate_min` and `…_max`.
  func rates() throws(PCMFailure) -> ClosedRange<Int> {
    var least: UInt32 = 0
    var most: UInt32 = 0
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_rate_min(parameters, &least, nil) }
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_rate_max(parameters, &most, nil) }
    return Int(least)...max(Int(least), Int(most))
  }

  /// `snd_pcm_hw_params_get_period_size_min` and `…_max`.
  func periodLengths() throws(PCMFailure) -> ClosedRange<Int> {
    var least: snd_pcm_uframes_t = 0
    var most: snd_pcm_uframes_t = 0
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_period_size_min(parameters, &least, nil) }
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_period_size_max(parameters, &most, nil) }
    return Int(clamping: least)...max(Int(clamping: least), Int(clamping: most))
  }

  /// `snd_pcm_hw_params`: the parameters become those of the device, which is prepared by it.
  func finishNegotiation() throws(PCMFailure) -> (periodSize: Int, bufferSize: Int) {
    try check(.hardwareParameters) { unsafe snd_pcm_hw_params(pcm, parameters) }
    var period: snd_pcm_uframes_t = 0
    var buffer: snd_pcm_uframes_t = 0
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_period_size(parameters, &period, nil) }
    try check(.getParameter) { unsafe snd_pcm_hw_params_get_buffer_size(parameters, &buffer) }
    return (Int(clamping: period), Int(clamping: buffer))
  }

  /// `snd_pcm_sw_params`: woken by a period, started by hand, stopped when dry, silent beyond the last frame.
  func setSoftwareParameters(periodSize: Int, bufferSize: Int) throws(PCMFailure) {
    var software: OpaquePointer?
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_malloc(&software) }
    defer { unsafe snd_pcm_sw_params_free(software) }
    guard let software = unsafe software else { return }
    var boundary: snd_pcm_uframes_t = 0
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_current(pcm, software) }
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_get_boundary(software, &boundary) }
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_set_start_threshold(pcm, software, boundary) }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_set_stop_threshold(pcm, software, snd_pcm_uframes_t(bufferSize))
    }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_set_avail_min(pcm, software, snd_pcm_uframes_t(periodSize))
    }
    // The device overwrites what it played with silence, so that a late writer leaves no echo. A plug-in
    // that cannot do this needs it no less, but has no say in it.
    _ = unsafe snd_pcm_sw_params_set_silence_threshold(pcm, software, 0)
    _ = unsafe snd_pcm_sw_params_set_silence_size(pcm, software, boundary)
    do { try check(.softwareParameters) { unsafe snd_pcm_sw_params(pcm, software) } } catch {
      _ = unsafe snd_pcm_sw_params_set_silence_size(pcm, software, 0)
      try check(.softwareParameters) { unsafe snd_pcm_sw_params(pcm, software) }
    }
  }

  /// `snd_pcm_type`: whether the PCM is a sound card's itself.
  var isCard: Bool { unsafe snd_pcm_type(pcm) == SND_PCM_TYPE_HW }

  /// `snd_pcm_type`: whether the PCM is of a plug-in that brings frames elsewhere.
  var isExternal: Bool { unsafe snd_pcm_type(pcm) == SND_PCM_TYPE_IOPLUG }

  /// `snd_pcm_dump`: how the library describes a PCM and those beneath it; allocates.
  func anatomy() -> String {
    if unsafe snd_pcm_type(pcm) == SND_PCM_TYPE_NULL { return "Null PCM" }
    var output: OpaquePointer?
    guard unsafe snd_output_buffer_open(&output) == 0, let output = unsafe output else { return "" }
    defer { unsafe snd_output_close(output) }
    unsafe snd_pcm_dump(pcm, output)
    var text: UnsafeMutablePointer<CChar>?
    let length = unsafe snd_output_buffer_string(output, &text)
    guard let text = unsafe text else { return "" }
    // The library does not end this text with a zero.
    let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(length))
    return unsafe String(decoding: UnsafeRawBufferPointer(bytes), as: UTF8.self)
  }
}

extension PCMAccess {
  /// The library's number for it.
  fileprivate var code: snd_pcm_access_t {
    switch self {
    case .memoryMapped: SND_PCM_ACCESS_MMAP_INTERLEAVED
    case .readWrite: SND_PCM_ACCESS_RW_INTERLEAVED
    }
  }
}

extension SampleEncoding {
  /// The library's number for it, in the byte order of this machine.
  fileprivate var code: snd_pcm_format_t {
    #if _endian(little)
      switch self {
      case .float: SND_PCM_FORMAT_FLOAT_LE
      case .s32: SND_PCM_FORMAT_S32_LE
      case .s24: SND_PCM_FORMAT_S24_LE
      case .s24Packed: SND_PCM_FORMAT_S24_3LE
      case .s16: SND_PCM_FORMAT_S16_LE
      }
    #else
      switch self {
      case .float: SND_PCM_FORMAT_FLOAT_BE
      case .s32: SND_PCM_FORMAT_S32_BE
      case .s24: SND_PCM_FORMAT_S24_BE
      case .s24Packed: SND_PCM_FORMAT_S24_3BE
      case .s16: SND_PCM_FORMAT_S16_BE
      }
    #endif
  }
}
