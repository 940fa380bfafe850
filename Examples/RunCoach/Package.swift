// swift-tools-version: 6.2
import PackageDescription

// On a Mac, Core Haptics and UIKit are frameworks of the SDK, and the package depends on nothing.
#if os(Linux)
  let dependencies: [Package.Dependency] = [
    // In a package of your own, with a clone of Temblor in its folder:
    // .package(path: "temblor", traits: []). Without its default trait, Temblor needs no C library.
    .package(name: "Temblor", path: "../..", traits: [])
  ]
  let frameworks: [Target.Dependency] = ["CoreHaptics", "UIKit"].map {
    .product(name: $0, package: "Temblor")
  }
  let testing: [Target.Dependency] = [.product(name: "HapticTesting", package: "Temblor")]
#else
  let dependencies: [Package.Dependency] = []
  let frameworks: [Target.Dependency] = []
  let testing: [Target.Dependency] = []
#endif

let package = Package(
  name: "RunCoach",
  platforms: [.iOS(.v17)],
  dependencies: dependencies,
  targets: [
    .target(
      name: "RunCoach", dependencies: frameworks, swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "RunCoachTests", dependencies: ["RunCoach"] + testing, exclude: ["__Haptics__"]),
  ]
)
