internal import Glibc
internal import HapticPlayback
internal import SoundFile
internal import SystemSupport

/// The negotiation with a device: asks, reads back, adapts.
struct PCMNegotiation {
  /// Rates that are tried one by one to find what a device supports.
  static let commonRates = [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000]

  private let request: PCMRequest

  /// A negotiation of one request.
  init(_ request: PCMRequest) { self.request = request }

  /// Opens the device of the request and makes it ready to be filled.
  func open(interception: PCMInterception?) throws(ALSAError) -> (pcm: PCMBindings, grant: PCMConfiguration) {
    do {
      let pcm = try PCMBindings(opening: request.device, interception: interception)
      let grant = try negotiate(pcm)
      return (pcm, grant)
    } catch let failure as PCMFailure { throw error(for: failure) } catch let error as ALSAError { throw error } catch {
      throw ALSAError(kind: .other, device: request.device, description: "\(error)")
    }
  }

  private func error(for failure: PCMFailure) -> ALSAError {
    let error = ALSAError(failure, device: request.device)
    if failure == PCMFailure(.open, code: ENOENT), request.device.prefix(while: { $0 != ":" }) == "jack" {
      // The plug-in tells so of a server that does not run.
      return ALSAError(PCMFailure(.open, code: ECONNREFUSED), device: request.device)
    }
    guard failure.call == .open, error.kind == .noSuchDevice, PCMBindings.records(request.device) else { return error }
    return ALSAError(kind: .notPlayback, device: request.device, description: "capture only; choose another device")
  }

  private func negotiate(_ pcm: PCMBindings) throws -> PCMConfiguration {
    try pcm.startNegotiation()
    let access = try chooseAccess(pcm)
    let channelCount = try chooseChannels(pcm)
    let rate = try chooseRate(pcm)
    let encoding = try chooseEncoding(pcm)
    pcm.preferWholePeriods()
    try pcm.set(periodLengthNear: max(1, request.periodSize))
    try pcm.set(bufferLengthNear: max(2 * request.periodSize, request.bufferSize))
    let (periodSize, bufferSize) = try pcm.finishNegotiation()
    guard periodSize > 0, bufferSize >= periodSize else {
      throw refusal("offers an unusable buffer: \(bufferSize) frames with periods of \(periodSize)")
    }
    try pcm.setSoftwareParameters(periodSize: periodSize, bufferSize: bufferSize)
    try pcm.prepare()
    let anatomy = pcm.anatomy()
    return PCMConfiguration(
      rate: rate, channelCount: channelCount, encoding: encoding, access: access, periodSize: periodSize,
      bufferSize: bufferSize, isHardware: pcm.isCard || anatomy.mentions("Hardware PCM card"),
      isPaced: anatomy.mentions("Null PCM"), isJACKClient: anatomy.mentions("JACK"))
  }

  /// Mapped memory, but not that of a plug-in, where the library only emulates it.
  private func chooseAccess(_ pcm: PCMBindings) throws -> PCMAccess {
    let wanted: [PCMAccess] =
      if let access = request.access { [access] } else if pcm.isExternal { [.readWrite, .memoryMapped] } else {
        [.memoryMapped, .readWrite]
      }
    guard let access = wanted.first(where: { pcm.offers($0) }) else {
      throw refusal(
        "does not support interleaved playback\(request.access == nil ? "" : " this way"); "
          + "choose another access or the device's 'plughw' name")
    }
    try pcm.set(access)
    return access
  }

  private func chooseChannels(_ pcm: PCMBindings) throws -> Int {
    let range = try pcm.channelCounts()
    switch request.channels {
    case .exactly(let count):
      guard pcm.offers(channelCount: count) else {
        let offered = Self.channelCounts(of: pcm, in: range)
        let one = offered == [1]
        throw refusal(
          "does not support \(count) channels; supported: \(Self.list(offered)) \(one ? "channel" : "channels")")
      }
      try pcm.set(channelCount: count)
      return count
    case .atLeast(let count):
      let offered = Self.channelCounts(of: pcm, in: range)
      guard let best = offered.first(where: { $0 >= count }) ?? offered.last else { throw refusal("has no channels") }
      try pcm.set(channelCount: best)
      return best
    }
  }

  private func chooseRate(_ pcm: PCMBindings) throws -> Int {
    if pcm.offers(rate: request.rate) {
      try pcm.set(rate: request.rate)
      return request.rate
    }
    guard request.allowsOtherRate else {
      let offered = try Self.rates(of: pcm)
      throw refusal("does not support \(request.rate) Hz; supported: \(Self.list(offered)) Hz")
    }
    return try pcm.set(rateNear: request.rate)
  }

  private func chooseEncoding(_ pcm: PCMBindings) throws -> SampleEncoding {
    let wanted = request.encoding.map { [$0] } ?? SampleEncoding.allCases
    guard let encoding = wanted.first(where: { pcm.offers($0) }) else {
      let offered = SampleEncoding.allCases.filter { pcm.offers($0) }.map(\.rawValue)
      throw refusal(
        offered.isEmpty
          ? "does not support 16-, 24- or 32-bit samples"
          : "does not support \(wanted[0].rawValue) samples; supported: \(offered.joined(separator: ", "))")
    }
    try pcm.set(encoding)
    return encoding
  }

  private func refusal(_ text: String) -> ALSAError {
    ALSAError(kind: .unsupportedFormat, device: request.device, description: text)
  }

  /// The counts a device has within a range, up to 64.
  static func channelCounts(of pcm: PCMBindings, in range: ClosedRange<Int>) -> [Int] {
    guard range.lowerBound <= 64 else { return [range.lowerBound] }
    return (max(1, range.lowerBound)...max(1, min(64, range.upperBound))).filter { pcm.offers(channelCount: $0) }
  }

  /// The common rates a device has, or the ends of its range where it has none of them.
  static func rates(of pcm: PCMBindings) throws(PCMFailure) -> [Int] {
    let common = commonRates.filter { pcm.offers(rate: $0) }
    guard common.isEmpty else { return common }
    let range = try pcm.rates()
    return range.count == 1 ? [range.lowerBound] : [range.lowerBound, range.upperBound]
  }

  /// Numbers as words: 'a, b and c', runs as 'a to b'.
  static func list(_ numbers: [Int]) -> String {
    if numbers.count > 2, let first = numbers.first, let last = numbers.last, last - first == numbers.count - 1 {
      return "\(first) to \(last)"
    }
    guard let last = numbers.last, numbers.count > 1 else { return "\(numbers.first ?? 0)" }
    return numbers.dropLast().map(String.init).joined(separator: ", ") + " and \(last)"
  }
}
