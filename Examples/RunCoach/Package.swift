// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "RunCoach",
  dependencies: [
    // In a package beside a clone: .package(path: "../temblor", traits: []). Without its default
    // trait Temblor needs no C library.
    .package(name: "Temblor", path: "../..", traits: [])
  ],
  targets: [
    .target(
      name: "RunCoach",
      dependencies: [
        // On Apple's systems these are frameworks of the SDK.
        .product(name: "CoreHaptics", package: "Temblor", condition: .when(platforms: [.linux])),
        .product(name: "UIKit", package: "Temblor", condition: .when(platforms: [.linux])),
      ], swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "RunCoachTests",
      dependencies: ["RunCoach", .product(name: "HapticTesting", package: "Temblor")],
      exclude: ["__Haptics__"]),
  ]
)
