// A tour with the clients that OpenAPI Generator makes for Go. The argument is the name of the animal.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"petstore"
	store "petstore_store"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func printError(what string, err error) {
	problem := err.(*store.GenericOpenAPIError)
	var body store.Error
	if err := json.Unmarshal(problem.Body(), &body); err != nil {
		panic(err)
	}
	fmt.Printf("%s: %d %s\n", what, body.Status, body.Code)
}

func main() {
	name, url, key := os.Args[1], os.Getenv("PETSTORE_URL"), os.Getenv("PETSTORE_KEY")
	contract := petstore.NewConfiguration()
	contract.Servers = petstore.ServerConfigurations{{URL: url}}
	configuration := store.NewConfiguration()
	configuration.Servers = store.ServerConfigurations{{URL: url}}
	client := store.NewAPIClient(configuration)
	animals, orders := client.AnimalsAPI, client.OrdersAPI
	ctx := context.WithValue(context.Background(), store.ContextAccessToken, key)

	pets := petstore.NewAPIClient(contract).PetsAPI
	pet := must(pets.CreatePet(context.WithValue(ctx, petstore.ContextAccessToken, key)).
		PetInput(*petstore.NewPetInput(name, 1)).Execute())
	fmt.Println("added an animal to the catalogue: it is", pet.GetStatus())
	fmt.Println("found it by its name:", len(must(animals.ListStorePets(ctx).Name(name).Execute())), "animal")
	species, breed, microchip := "Cat", "Siamese", fmt.Sprintf("276098%09d", rand.Intn(1_000_000_000))
	input := store.NewStorePetInput(name, 1)
	input.SetFields(map[string]store.FieldValue{
		"species":   {String: &species},
		"breed":     {String: &breed},
		"microchip": {String: &microchip},
	})
	cat := must(animals.AddStorePet(ctx).StorePetInput(*input).Execute())
	fmt.Println("added an animal with values: it is a", *cat.Fields["species"].String)
	found := must(animals.ListStorePets(ctx).Field(map[string]interface{}{"field.microchip": microchip}).Execute())
	if found[0].Id != cat.Id {
		panic("another animal")
	}
	fmt.Println("found it by its microchip:", len(found), "animal")
	photo, err := os.Open("photo.webp")
	if err != nil {
		panic(err)
	}
	must(client.PhotosAPI.AddPhoto(ctx, cat.Id).Body(photo).Execute())
	fmt.Println("added a photo of it:", len(must(animals.GetStorePet(ctx, cat.Id).Execute()).Photos), "photo")

	order := store.NewOrderInput(pet.Id)
	order.SetReference("R-1")
	placed := must(orders.PlaceOrder(ctx).IdempotencyKey(name + "-1").OrderInput(*order).Execute())
	if again := must(orders.PlaceOrder(ctx).IdempotencyKey(name + "-1").OrderInput(*order).Execute()); again.Id != placed.Id {
		panic("a second order")
	}
	placed = must(orders.GetOrder(ctx, placed.Id).Execute())
	fmt.Printf("reserved it: the order is %s, for %.0f days\n", placed.Status,
		placed.ExpiresAt.Get().Sub(placed.CreatedAt).Hours()/24)
	_, _, err = orders.PlaceOrder(ctx).IdempotencyKey(name + "-2").OrderInput(*order).Execute()
	printError("reserving it again", err)
	completed := must(orders.CompleteOrder(ctx, placed.Id).Completion(*store.NewCompletion()).Execute())
	if placed.ClosedAt.Get() != nil || completed.ClosedAt.Get().Before(completed.CreatedAt) {
		panic("the time of the end")
	}
	fmt.Printf("completed the order: it is %s, and has the time of its end\n", completed.Status)

	before := must(animals.GetStorePet(ctx, pet.Id).Execute())
	patch := store.NewPetPatch()
	patch.SetName(name + " II")
	request := animals.PatchPet(ctx, pet.Id).IfMatch(fmt.Sprintf(`"%d"`, before.Version)).PetPatch(*patch)
	fmt.Printf("changed the name: from version %d to %d\n", before.Version, must(request.Execute()).Version)
	_, _, err = request.Execute()
	printError("changing it with the old version", err)

	for _, change := range must(client.ChangesAPI.FollowChanges(ctx).After("start").Limit(1000).Execute()) {
		after, id := change.After.Get(), change.Subject.Id.Get()
		if change.Subject.Kind == "pet" && *id == pet.Id {
			fmt.Printf("change: %s, %s\n", change.Type, after.StorePet.Status)
		} else if change.Subject.Kind == "order" && *id == placed.Id {
			fmt.Printf("change: %s, %s\n", change.Type, after.Order.Status)
		}
	}
	entries := must(client.AuditAPI.ListAudit(ctx).Subject(fmt.Sprintf("pet:%d", pet.Id)).Execute())
	fmt.Printf("audit trail: %d entries about the animal, by the key %s\n", len(entries),
		*entries[len(entries)-1].Actor.Name.Get())

	batch := must(client.BatchAPI.RunBatch(ctx).IdempotencyKey(name + "-3").Command([]store.Command{
		store.AddPetCommandAsCommand(store.NewAddPetCommand("addPet", name+" III", 1)),
		store.ReturnOrderCommandAsCommand(store.NewReturnOrderCommand("returnOrder", placed.Id)),
	}).Execute())
	fmt.Printf("batch: added an animal that is %s, and the order is %s\n", batch[0].StorePet.Status, batch[1].Order.Status)
}
