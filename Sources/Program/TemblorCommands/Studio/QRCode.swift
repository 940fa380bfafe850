import Glibc

/// A QR code, which a phone reads from the screen.
///
/// The library libqrencode computes the code. It is loaded at the first use.
struct QRCode {
  /// The reason that a QR code cannot be created.
  enum Failure: Error {
    /// The library is not installed.
    case missingLibrary
    /// The text is too long for a QR code.
    case tooLong
  }

  /// The name of the library that encodes QR codes, and the package that contains it.
  static let libraryName = "libqrencode.so.4"
  static let packageName = "libqrencode4"

  /// The number of modules (black or white squares) on each side of the code.
  let modulesPerSide: Int
  /// The modules row by row; true for black.
  let areModulesBlack: [Bool]

  /// The byte offsets of the members `width` and `data` in the C structure `QRcode`, which begins
  /// with `int version` and `int width`, followed by the address of the modules.
  private static let widthMemberOffset = MemoryLayout<Int32>.size
  private static let modulesMemberOffset = 2 * MemoryLayout<Int32>.size

  private typealias EncodeFunction =
    @convention(c) (
      UnsafePointer<CChar>, Int32, Int32, Int32, Int32
    ) -> UnsafeMutableRawPointer?
  private typealias FreeFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The arguments of `QRcode_encodeString`: the smallest version that fits, 15 % redundancy, 8-bit
  /// data (UTF-8), and case-sensitive text.
  private static let anyVersion: Int32 = 0
  private static let mediumRedundancy: Int32 = 1
  private static let byteMode: Int32 = 2
  private static let isCaseSensitive: Int32 = 1

  /// Encodes a text.
  init(of text: String) throws(Failure) {
    guard let libraryHandle = unsafe dlopen(Self.libraryName, RTLD_NOW | RTLD_LOCAL),
      let encodeSymbol = unsafe dlsym(libraryHandle, "QRcode_encodeString"),
      let freeSymbol = unsafe dlsym(libraryHandle, "QRcode_free")
    else { throw .missingLibrary }
    let encodeString = unsafe unsafeBitCast(encodeSymbol, to: EncodeFunction.self)
    let freeCode = unsafe unsafeBitCast(freeSymbol, to: FreeFunction.self)
    let code = unsafe encodeString(
      text, Self.anyVersion, Self.mediumRedundancy, Self.byteMode, Self.isCaseSensitive)
    guard let code = unsafe code else { throw .tooLong }
    let moduleCount = unsafe Int(code.load(fromByteOffset: Self.widthMemberOffset, as: Int32.self))
    let modulePointer = unsafe code.load(
      fromByteOffset: Self.modulesMemberOffset, as: UnsafePointer<UInt8>.self)
    // The least significant bit of a byte is the color of a module.
    areModulesBlack = (0..<moduleCount * moduleCount).map { unsafe modulePointer[$0] & 1 == 1 }
    self.modulesPerSide = moduleCount
    unsafe freeCode(code)
  }

  /// The width of the light border around the code, in modules. The standard (ISO/IEC 18004)
  /// requires four, but two are sufficient for the cameras of phones.
  private static let marginModuleCount = 2

  /// The code as lines of text, with two rows of modules in each line.
  ///
  /// Light modules are drawn, so that the code is dark on light on a terminal with light text on a
  /// dark background.
  var lines: [String] {
    let moduleRange = -Self.marginModuleCount..<modulesPerSide + Self.marginModuleCount
    return stride(from: moduleRange.lowerBound, to: moduleRange.upperBound, by: 2).map { row in
      moduleRange.map { column in
        switch (isLight(row, column), isLight(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }.joined()
    }
  }

  private func isLight(_ row: Int, _ column: Int) -> Bool {
    guard (0..<modulesPerSide).contains(row), (0..<modulesPerSide).contains(column) else {
      return true
    }
    return !areModulesBlack[row * modulesPerSide + column]
  }
}
